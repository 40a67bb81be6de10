-- does: moves the start of the hot part behind a segment and enters that in the index; nothing when another spill was first
-- locks: topic_partition, to the end of the transaction: appends wait for the commit only
-- index: topic_partition primary key, segment primary key
WITH moved AS (
    UPDATE topic_partition
    SET hot_offset = %(last_offset)s + 1, bytes_before = %(total_bytes)s, time_before = %(last_at)s
    WHERE topic_id = %(topic_id)s AND partition = %(partition)s AND hot_offset = %(first_offset)s
    RETURNING topic_id, partition
)
INSERT INTO segment (
    topic_id, partition, first_offset, last_offset, first_at, last_at, records, raw_bytes, bytes, sha256, locator, spilled_at
)
SELECT
    topic_id, partition, %(first_offset)s, %(last_offset)s, %(first_at)s, %(last_at)s, %(records)s, %(raw_bytes)s, %(bytes)s,
    %(sha256)s, %(locator)s, statement_timestamp()
FROM moved
RETURNING first_offset
