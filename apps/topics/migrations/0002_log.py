"""The log itself. Hot tables: keys begin with topic_id, no foreign keys, no index but the primary key."""

from django.db import migrations

# bytes_before and time_before carry the running total and the last time over into a partition whose events are all in
# cold storage; like hot_offset they are written by the spill only. An append locks this row and never changes it: a
# counter in it would leave dead rows behind that every later append reads while any old snapshot is open.
TOPIC_PARTITION = """
CREATE TABLE topic_partition (
    topic_id integer NOT NULL,
    partition smallint NOT NULL,
    hot_offset bigint NOT NULL DEFAULT 0,
    oldest_offset bigint NOT NULL DEFAULT 0,
    bytes_before bigint NOT NULL DEFAULT 0,
    time_before timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (topic_id, partition)
) WITH (fillfactor = 50)
"""

# kind: 0 a record (body is its payload), 1 a CloudEvent (body is its JSON as sent). key: the record's key or the event's id.
# total_bytes runs over the partition and counts each event as it is answered by a pull, so that hot bytes and the cut of a
# page are differences of two rows.
EVENT = """
CREATE TABLE event (
    topic_id integer NOT NULL,
    partition smallint NOT NULL,
    kind smallint NOT NULL,
    "offset" bigint NOT NULL,
    appended_at timestamptz NOT NULL,
    total_bytes bigint NOT NULL,
    partition_key text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    type text COLLATE "C",
    source text COLLATE "C",
    subject text COLLATE "C",
    body text COLLATE "C" NOT NULL,
    PRIMARY KEY (topic_id, partition, "offset")
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
)
"""

# Uniqueness rests on the lock of the partition row, which is why this may be cut into days and dropped by the day. The offset
# is in the key so that a key that is new again after its window needs no ON CONFLICT (2 µs a row).
DEDUP = """
CREATE TABLE dedup (
    topic_id integer NOT NULL,
    partition smallint NOT NULL,
    key_hash uuid NOT NULL,
    day date NOT NULL,
    "offset" bigint NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (topic_id, partition, key_hash, day, "offset")
) PARTITION BY RANGE (day)
"""

DEDUP_DAYS = """
CREATE TABLE dedup_default PARTITION OF dedup DEFAULT;
DO $$
DECLARE
    first date := (statement_timestamp() AT TIME ZONE 'UTC')::date;
BEGIN
    FOR ahead IN 0..30 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF dedup FOR VALUES FROM (%L) TO (%L)',
            'dedup_' || to_char(first + ahead, 'YYYYMMDD'), first + ahead, first + ahead + 1
        );
    END LOOP;
END
$$
"""


class Migration(migrations.Migration):
    dependencies = [("topics", "0001_topic")]

    operations = [
        migrations.RunSQL(TOPIC_PARTITION, "DROP TABLE topic_partition"),
        migrations.RunSQL(EVENT, "DROP TABLE event"),
        migrations.RunSQL(DEDUP, "DROP TABLE dedup"),
        migrations.RunSQL(DEDUP_DAYS, migrations.RunSQL.noop),
    ]
