"""Dead letters: one an event, with a copy of its body, so that retention cannot take what an operator still has to decide."""

from django.db import migrations, models

# One row an event and consumer, however often it dies: first_at and last_at say over what time.
# state: dead, or redriven (out again under lease_id; kept as a record, and as the body of that lease).
DEAD_LETTER = """
CREATE TABLE dead_letter (
    topic_id integer NOT NULL,
    consumer_id integer NOT NULL,
    id uuid NOT NULL,
    partition smallint NOT NULL,
    "offset" bigint NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('dead', 'redriven')),
    lease_id uuid NOT NULL,
    handouts integer NOT NULL,
    deaths integer NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    error text NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    redriven_at timestamptz,
    body text NOT NULL,
    PRIMARY KEY (topic_id, consumer_id, id),
    UNIQUE (topic_id, consumer_id, partition, "offset")
);
CREATE INDEX dead_letter_fingerprint ON dead_letter (topic_id, consumer_id, fingerprint, last_at) WHERE state = 'dead';
CREATE INDEX dead_letter_lease ON dead_letter (topic_id, consumer_id, lease_id) WHERE state = 'redriven';
"""

DEAD_LETTER_STATE = migrations.CreateModel(
    name="DeadLetter",
    fields=[
        (
            "pk",
            models.CompositePrimaryKey(
                "topic_id", "consumer_id", "id", blank=True, editable=False, primary_key=True, serialize=False
            ),
        ),
        ("topic_id", models.IntegerField()),
        ("consumer_id", models.IntegerField()),
        ("id", models.UUIDField()),
        ("partition", models.SmallIntegerField()),
        ("offset", models.BigIntegerField()),
        ("state", models.TextField(choices=[("dead", "given up"), ("redriven", "handed out again")])),
        ("lease_id", models.UUIDField()),
        ("handouts", models.IntegerField()),
        ("deaths", models.IntegerField()),
        ("fingerprint", models.TextField()),
        ("error", models.TextField()),
        ("first_at", models.DateTimeField()),
        ("last_at", models.DateTimeField()),
        ("redriven_at", models.DateTimeField(null=True)),
        ("body", models.TextField()),
    ],
    options={"db_table": "dead_letter", "managed": False},
)


class Migration(migrations.Migration):
    dependencies = [("leases", "0001_leases")]

    operations = [
        migrations.RunSQL(DEAD_LETTER, "DROP TABLE dead_letter", state_operations=[DEAD_LETTER_STATE]),
    ]
