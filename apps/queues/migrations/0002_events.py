"""The hot tables: keys begin with queue_id, no foreign keys. Delayed events are outside the ready index on purpose."""

from django.db import migrations

# Each index serves one question: what comes next, what falls due, who heads a key, what died, did this time fire.
QUEUE_EVENT = """
CREATE TABLE queue_event (
    queue_id integer NOT NULL,
    id uuid NOT NULL,
    n bigint GENERATED ALWAYS AS IDENTITY,
    state text COLLATE "C" NOT NULL,
    priority smallint NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    scheduled_at timestamptz NOT NULL,
    due_at timestamptz,
    lease_token uuid,
    leased_by text COLLATE "C",
    group_key text COLLATE "C",
    idempotency_key text COLLATE "C",
    schedule_id uuid,
    caused_by uuid,
    enqueued_at timestamptz NOT NULL,
    died_at timestamptz,
    error text COLLATE "C",
    payload text COLLATE "C" NOT NULL,
    PRIMARY KEY (queue_id, id)
) WITH (
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX queue_event_ready ON queue_event (queue_id, priority DESC, scheduled_at, n) WHERE state = 'ready';
CREATE INDEX queue_event_due ON queue_event (queue_id, due_at) WHERE state IN ('leased', 'waiting');
CREATE INDEX queue_event_group ON queue_event (queue_id, group_key, n) WHERE group_key IS NOT NULL AND state <> 'dead';
CREATE INDEX queue_event_dead ON queue_event (queue_id, died_at, n) WHERE state = 'dead';
CREATE UNIQUE INDEX queue_event_fired ON queue_event (queue_id, schedule_id, scheduled_at) WHERE schedule_id IS NOT NULL;
"""

# Locked by whoever enqueues or settles an event of the key: those two decide who heads it.
QUEUE_GROUP = """
CREATE TABLE queue_group (
    queue_id integer NOT NULL,
    group_key text COLLATE "C" NOT NULL,
    touched_at timestamptz NOT NULL,
    PRIMARY KEY (queue_id, group_key)
) WITH (fillfactor = 50)
"""

# Outlives its event by a day (free_at), hence a table of its own.
QUEUE_KEY = """
CREATE TABLE queue_key (
    queue_id integer NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    event_id uuid NOT NULL,
    scheduled_at timestamptz NOT NULL,
    free_at timestamptz,
    PRIMARY KEY (queue_id, idempotency_key)
);
CREATE INDEX queue_key_free ON queue_key (queue_id, free_at) WHERE free_at IS NOT NULL;
"""

# What an acknowledgement with this token did: answers the same call again, and tells lost from unknown.
QUEUE_SETTLED = """
CREATE TABLE queue_settled (
    queue_id integer NOT NULL,
    id uuid NOT NULL,
    token uuid NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    scheduled_at timestamptz,
    at timestamptz NOT NULL
) PARTITION BY RANGE (at);
CREATE INDEX queue_settled_event ON queue_settled (queue_id, id);
CREATE INDEX queue_settled_at ON queue_settled (queue_id, at);
CREATE TABLE queue_settled_default PARTITION OF queue_settled DEFAULT;
"""

QUEUE_SAMPLE = """
CREATE TABLE queue_sample (
    queue_id integer NOT NULL,
    at timestamptz NOT NULL,
    ready bigint NOT NULL,
    scheduled bigint NOT NULL,
    in_flight bigint NOT NULL,
    blocked bigint NOT NULL,
    dead bigint NOT NULL,
    exact boolean NOT NULL,
    oldest_at timestamptz,
    settled bigint NOT NULL,
    PRIMARY KEY (queue_id, at)
) PARTITION BY RANGE (at);
CREATE TABLE queue_sample_default PARTITION OF queue_sample DEFAULT;
"""


def table(create: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL(create, f"DROP TABLE {name}")


class Migration(migrations.Migration):
    dependencies = [("queues", "0001_queue")]

    operations = [
        table(QUEUE_EVENT, "queue_event"),
        table(QUEUE_GROUP, "queue_group"),
        table(QUEUE_KEY, "queue_key"),
        table(QUEUE_SETTLED, "queue_settled"),
        table(QUEUE_SAMPLE, "queue_sample"),
    ]
