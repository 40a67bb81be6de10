-- does: how much of each partition of a topic is in cold storage, and since when
-- locks: nothing
-- index: topic_partition primary key, segment primary key
SELECT p.partition, s.segments, s.records, s.bytes, s.raw_bytes, s.first_at, s.last_at
FROM topic_partition AS p
CROSS JOIN LATERAL (
    SELECT
        count(*) AS segments, coalesce(sum(segment.records), 0)::bigint AS records,
        coalesce(sum(segment.bytes), 0)::bigint AS bytes, coalesce(sum(segment.raw_bytes), 0)::bigint AS raw_bytes,
        min(segment.first_at) AS first_at, max(segment.last_at) AS last_at
    FROM segment
    WHERE segment.topic_id = p.topic_id AND segment.partition = p.partition AND segment.forgotten_at IS NULL
) AS s
WHERE p.topic_id = %(topic_id)s
ORDER BY p.partition
