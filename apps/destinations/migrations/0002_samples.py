"""What the console and the metrics show: lag over time, and which workers came by."""

from django.db import migrations

# state and cause are those of the moment, so that a chart can say why it stood still. Null for a consumer group.
# head and settled (sums over the partitions) give the rates in and out as differences of two samples.
LAG_SAMPLE = """
CREATE TABLE lag_sample (
    topic_id integer NOT NULL,
    consumer_id integer NOT NULL,
    at timestamptz NOT NULL,
    lag_events bigint NOT NULL,
    lag_seconds double precision,
    in_flight integer NOT NULL,
    waiting integer NOT NULL,
    head bigint NOT NULL,
    settled bigint NOT NULL,
    state text COLLATE "C",
    cause text COLLATE "C",
    PRIMARY KEY (topic_id, consumer_id, at)
) PARTITION BY RANGE (at);
CREATE TABLE lag_sample_default PARTITION OF lag_sample DEFAULT;
DO $$
DECLARE
    first date := (statement_timestamp() AT TIME ZONE 'UTC')::date;
BEGIN
    FOR ahead IN 0..30 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF lag_sample FOR VALUES FROM (%L) TO (%L)',
            'lag_sample_' || to_char(first + ahead, 'YYYYMMDD'),
            (first + ahead)::timestamp AT TIME ZONE 'UTC', (first + ahead + 1)::timestamp AT TIME ZONE 'UTC'
        );
    END LOOP;
END
$$
"""

# Written from memory every 15 s, never by a pull. worker is empty for pulls without a workerId.
WORKER_SEEN = """
CREATE TABLE worker_seen (
    topic_id integer NOT NULL,
    consumer_id integer NOT NULL,
    worker text COLLATE "C" NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (topic_id, consumer_id, worker)
) WITH (fillfactor = 50);
CREATE INDEX worker_seen_last ON worker_seen (topic_id, consumer_id, seen_at)
"""


class Migration(migrations.Migration):
    dependencies = [("destinations", "0001_destination")]

    operations = [
        migrations.RunSQL(LAG_SAMPLE, "DROP TABLE lag_sample"),
        migrations.RunSQL(WORKER_SEEN, "DROP TABLE worker_seen"),
    ]
