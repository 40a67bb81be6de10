-- does: of each partition how much of its hot part is over the topic's bounds: records, bytes, and the age of its first event in seconds
-- locks: nothing
-- index: topic_partition primary key, event primary key
SELECT
    p.partition, p.hot_offset,
    last."offset" + 1 - p.hot_offset AS records,
    last.total_bytes - p.bytes_before AS bytes,
    extract(epoch FROM statement_timestamp() - first.appended_at)::double precision AS age
FROM topic_partition AS p
CROSS JOIN LATERAL (
    SELECT e."offset", e.total_bytes
    FROM event AS e
    WHERE e.topic_id = p.topic_id AND e.partition = p.partition AND e."offset" >= p.hot_offset
    ORDER BY e."offset" DESC
    LIMIT 1
) AS last
CROSS JOIN LATERAL (
    SELECT e.appended_at
    FROM event AS e
    WHERE e.topic_id = p.topic_id AND e.partition = p.partition AND e."offset" >= p.hot_offset
    ORDER BY e."offset"
    LIMIT 1
) AS first
WHERE p.topic_id = %(topic_id)s
ORDER BY p.partition
