-- does: of each partition of a topic the latest readable segments that are not half full (cold/windows.py), in order
-- locks: nothing
-- index: topic_partition primary key, segment_small
SELECT
    s.partition, s.first_offset, s.last_offset, s.records, s.raw_bytes, s.first_at, s.last_at, s.sha256, s.locator,
    statement_timestamp() - s.last_at AS age, s.spilled_at < statement_timestamp() - interval '1 day' AS has_rested
FROM topic_partition AS p
CROSS JOIN LATERAL (
    SELECT
        segment.partition, segment.first_offset, segment.last_offset, segment.records, segment.raw_bytes, segment.first_at,
        segment.last_at, segment.sha256, segment.locator, segment.spilled_at
    FROM segment
    WHERE segment.topic_id = p.topic_id AND segment.partition = p.partition
        AND segment.forgotten_at IS NULL AND segment.raw_bytes < 8388608 AND segment.records < 10000
    ORDER BY segment.first_offset DESC
    LIMIT %(limit)s
) AS s
WHERE p.topic_id = %(topic_id)s
ORDER BY s.partition, s.first_offset
