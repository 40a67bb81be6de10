-- does: enters a merged segment in the index, unless its object is about to be deleted
-- locks: nothing more: runs under lock_cold
-- index: segment primary key, segment_leaving primary key
INSERT INTO segment (
    topic_id, partition, first_offset, last_offset, first_at, last_at, records, raw_bytes, bytes, sha256, locator, spilled_at
)
SELECT
    %(topic_id)s, %(partition)s, %(first_offset)s, %(last_offset)s, %(first_at)s, %(last_at)s, %(records)s, %(raw_bytes)s,
    %(bytes)s, %(sha256)s, %(locator)s, statement_timestamp()
WHERE NOT EXISTS (
    SELECT FROM segment_leaving AS l
    WHERE l.topic_id = %(topic_id)s AND l.partition = %(partition)s AND l.first_offset = %(first_offset)s
        AND l.locator = %(locator)s
)
RETURNING first_offset
