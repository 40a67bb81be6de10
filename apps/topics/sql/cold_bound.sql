-- does: where the readable segment begins that holds events on both sides of an offset; nothing when none does
-- locks: nothing; runs under lock_cold
-- index: segment primary key
SELECT s.first_offset
FROM (
    SELECT segment.first_offset, segment.last_offset
    FROM segment
    WHERE segment.topic_id = %(topic_id)s AND segment.partition = %(partition)s AND segment.first_offset < %(oldest)s
        AND segment.forgotten_at IS NULL
    ORDER BY segment.first_offset DESC
    LIMIT 1
) AS s
WHERE s.last_offset >= %(oldest)s
