-- does: of each partition where its rows begin, its bounds, and what the index says its cold part is
-- locks: nothing
-- index: topic_partition primary key, event primary key, segment primary key
SELECT
    p.partition, p.oldest_offset, p.hot_offset,
    (
        SELECT e."offset" FROM event AS e
        WHERE e.topic_id = p.topic_id AND e.partition = p.partition
        ORDER BY e."offset" LIMIT 1
    ) AS first_row,
    cold.first_offset, cold.last_offset, cold.records
FROM topic_partition AS p
CROSS JOIN LATERAL (
    SELECT min(s.first_offset) AS first_offset, max(s.last_offset) AS last_offset, coalesce(sum(s.records), 0)::bigint AS records
    FROM segment AS s
    WHERE s.topic_id = p.topic_id AND s.partition = p.partition AND s.forgotten_at IS NULL
) AS cold
WHERE p.topic_id = %(topic_id)s
ORDER BY p.partition
