"""Leases in force, and what became of those that are not. No foreign keys: a pull writes here a thousand times a second."""

from django.db import migrations

# Live leases only: settling deletes the row, so that the first unsettled offset can be read from the table.
# state: leased (until visible_at), expired (a leased one whose end the sweep has seen; as good as leased with visible_at in
# the past), waiting (its generation is over: failed, expired by an operator, or the rest of a split; due from visible_at).
# picked: the offsets a filter took, relative to first_offset; null when it took all. events = how many are left in it.
# handouts: how often it was handed out, repeats to the same worker included. redriven: outside `committed`.
LEASE = """
CREATE TABLE lease (
    topic_id integer NOT NULL,
    consumer_id integer NOT NULL,
    id uuid NOT NULL,
    partition smallint NOT NULL,
    redriven boolean NOT NULL DEFAULT false,
    first_offset bigint NOT NULL,
    next_offset bigint NOT NULL,
    events integer NOT NULL,
    generation integer NOT NULL,
    attempt integer NOT NULL,
    handouts integer NOT NULL,
    leased_at timestamptz NOT NULL,
    handed_at timestamptz NOT NULL,
    visible_at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('leased', 'expired', 'waiting')),
    worker text COLLATE "C" NOT NULL,
    picked integer[],
    error text,
    PRIMARY KEY (topic_id, consumer_id, id)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX lease_visible ON lease (topic_id, consumer_id, visible_at) INCLUDE (events, state);
CREATE INDEX lease_first ON lease (topic_id, consumer_id, partition, first_offset);
"""

# One row for each outcome of a generation, kept two days: it answers a repeated acknowledgement, and tells stale from unknown.
SETTLED = """
CREATE TABLE settled (
    topic_id integer NOT NULL,
    consumer_id integer NOT NULL,
    id uuid NOT NULL,
    generation integer NOT NULL,
    at timestamptz NOT NULL,
    partition smallint NOT NULL,
    outcome text NOT NULL,
    PRIMARY KEY (topic_id, consumer_id, id, generation, at)
) PARTITION BY RANGE (at);
CREATE TABLE settled_default PARTITION OF settled DEFAULT;
DO $$
DECLARE
    first date := (statement_timestamp() AT TIME ZONE 'UTC')::date;
BEGIN
    FOR ahead IN 0..30 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF settled FOR VALUES FROM (%L) TO (%L)',
            'settled_' || to_char(first + ahead, 'YYYYMMDD'),
            (first + ahead)::timestamp AT TIME ZONE 'UTC',
            (first + ahead + 1)::timestamp AT TIME ZONE 'UTC'
        );
    END LOOP;
END
$$
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = [("cursors", "0001_cursors")]

    operations = [
        migrations.RunSQL(LEASE, "DROP TABLE lease"),
        migrations.RunSQL(SETTLED, "DROP TABLE settled"),
    ]
