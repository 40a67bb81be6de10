-- does: of each partition the first readable segment whose last event was appended at a time or later
-- locks: nothing
-- index: topic_partition_pkey, segment_pkey
SELECT p.partition, s.first_offset, s.last_offset, s.records, s.sha256, s.locator
FROM topic_partition AS p
CROSS JOIN LATERAL (
    SELECT first_offset, last_offset, records, sha256, locator
    FROM segment
    WHERE segment.topic_id = p.topic_id AND segment.partition = p.partition AND last_at >= %(time)s AND forgotten_at IS NULL
    ORDER BY first_offset
    LIMIT 1
) AS s
WHERE p.topic_id = %(topic_id)s
