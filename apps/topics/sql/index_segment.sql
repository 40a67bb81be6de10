-- does: moves the start of the hot part behind a segment and enters that in the index; nothing when another was first or its object is leaving
-- locks: topic_partition, to the end of the transaction: appends wait for the commit only
-- index: topic_partition primary key, segment primary key, segment_leaving primary key
WITH moved AS (
    UPDATE topic_partition
    SET hot_offset = %(last_offset)s + 1, bytes_before = %(total_bytes)s, time_before = %(last_at)s
    WHERE topic_id = %(topic_id)s AND partition = %(partition)s AND hot_offset = %(first_offset)s
        AND NOT EXISTS (
            SELECT FROM segment_leaving AS l
            WHERE l.topic_id = %(topic_id)s AND l.partition = %(partition)s AND l.first_offset = %(first_offset)s
                AND l.locator = %(locator)s
        )
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
