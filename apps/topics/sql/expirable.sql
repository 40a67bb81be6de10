-- does: the oldest readable segments of each partition of a topic whose last event is older than a time, up to a number
-- locks: nothing
-- index: topic_partition primary key, segment primary key
SELECT p.partition, p.oldest_offset, s.last_offset, s.raw_bytes, s.last_at
FROM topic_partition AS p
CROSS JOIN LATERAL (
    SELECT segment.last_offset, segment.raw_bytes, segment.last_at, segment.first_offset
    FROM segment
    WHERE segment.topic_id = p.topic_id AND segment.partition = p.partition
        AND segment.first_offset >= p.oldest_offset AND segment.forgotten_at IS NULL
    ORDER BY segment.first_offset
    LIMIT %(limit)s
) AS s
WHERE p.topic_id = %(topic_id)s AND s.last_at < %(before)s
ORDER BY p.partition, s.first_offset
