"""The index of cold storage, and how its sweeps went."""

import django.db.models.deletion
from django.db import migrations, models

# Written with the delete of the rows in one transaction. forgotten_at: no longer readable, the object goes a while later.
SEGMENT = """
CREATE TABLE segment (
    topic_id integer NOT NULL,
    partition smallint NOT NULL,
    first_offset bigint NOT NULL,
    last_offset bigint NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    records integer NOT NULL,
    raw_bytes bigint NOT NULL,
    bytes bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    locator text COLLATE "C" NOT NULL,
    spilled_at timestamptz NOT NULL,
    forgotten_at timestamptz,
    PRIMARY KEY (topic_id, partition, first_offset)
)
"""


class Migration(migrations.Migration):
    dependencies = [("topics", "0002_log")]

    operations = [
        migrations.RunSQL(SEGMENT, "DROP TABLE segment"),
        migrations.CreateModel(
            name="Sweep",
            fields=[
                (
                    "topic",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sweep",
                        serialize=False,
                        to="topics.topic",
                    ),
                ),
                ("swept_at", models.DateTimeField(null=True)),
                ("succeeded_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("error", models.TextField(blank=True, default="")),
                ("problems", models.JSONField(default=list)),
                ("reconciled_at", models.DateTimeField(null=True)),
            ],
            options={"db_table": "topic_sweep"},
        ),
        migrations.CreateModel(
            name="Repair",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("topic_id", models.IntegerField()),
                ("partition", models.SmallIntegerField(null=True)),
                ("kind", models.TextField()),
                ("detail", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"db_table": "topic_repair"},
        ),
    ]
