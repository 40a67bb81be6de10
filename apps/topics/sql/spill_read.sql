-- does: the first events of a partition's hot part that are over one of its bounds, up to a number of them and of bytes
-- locks: nothing: events never change, and only a spill moves the bound
-- index: topic_partition primary key, event primary key
SELECT
    e."offset", e.appended_at, e.total_bytes, e.kind, e.partition_key, e.key, e.type, e.source, e.subject, e.body
FROM topic_partition AS p
CROSS JOIN LATERAL (
    SELECT last."offset" + 1 AS "offset", last.total_bytes
    FROM event AS last
    WHERE last.topic_id = p.topic_id AND last.partition = p.partition AND last."offset" >= p.hot_offset
    ORDER BY last."offset" DESC
    LIMIT 1
) AS head
JOIN event AS e ON e.topic_id = p.topic_id AND e.partition = p.partition
    AND e."offset" >= p.hot_offset AND e."offset" < p.hot_offset + %(limit)s
WHERE p.topic_id = %(topic_id)s AND p.partition = %(partition)s
    AND (e.total_bytes - p.bytes_before <= %(max_bytes)s OR e."offset" = p.hot_offset)
    AND (
        e."offset" < head."offset" - %(hot_records)s
        OR head.total_bytes - e.total_bytes >= %(hot_bytes)s
        OR e.appended_at < statement_timestamp() - make_interval(secs => %(hot_seconds)s)
    )
ORDER BY e."offset"
