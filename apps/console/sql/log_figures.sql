-- does: what every topic holds hot and cold, and how its sweeps go
-- locks: nothing
-- index: none: all topics are looked at; event_pkey, segment_pkey for each partition
SELECT
    t.name,
    sum(coalesce(last."offset" + 1, p.hot_offset) - p.hot_offset)::float8 AS hot_records,
    sum(coalesce(last.total_bytes, p.bytes_before) - p.bytes_before)::float8 AS hot_bytes,
    sum(p.hot_offset - p.oldest_offset)::float8 AS cold_records,
    coalesce(max(s.failures), 0) AS failures,
    coalesce(max(s.merged_segments), 0) AS merged
FROM topic AS t
JOIN topic_partition AS p ON p.topic_id = t.id
LEFT JOIN topic_sweep AS s ON s.topic_id = t.id
LEFT JOIN LATERAL (
    SELECT e."offset", e.total_bytes
    FROM event AS e
    WHERE e.topic_id = p.topic_id AND e.partition = p.partition AND e."offset" >= p.hot_offset
    ORDER BY e."offset" DESC
    LIMIT 1
) AS last ON true
GROUP BY t.name
