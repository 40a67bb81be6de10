-- does: where each partition of the asked topics begins and ends, what is hot, and since when its last hundred events came
-- locks: nothing
-- index: topic_partition primary key, event primary key
SELECT
    p.topic_id, p.partition, p.oldest_offset, p.hot_offset,
    coalesce(last."offset" + 1, p.hot_offset) AS next_offset,
    coalesce(last.total_bytes, p.bytes_before) - p.bytes_before AS hot_bytes,
    last.appended_at AS last_at,
    last."offset" + 1 - earlier."offset" AS recent,
    extract(epoch FROM statement_timestamp() - earlier.appended_at)::double precision AS recent_seconds
FROM topic_partition AS p
LEFT JOIN LATERAL (
    SELECT e."offset", e.total_bytes, e.appended_at
    FROM event AS e
    WHERE e.topic_id = p.topic_id AND e.partition = p.partition AND e."offset" >= p.hot_offset
    ORDER BY e."offset" DESC
    LIMIT 1
) AS last ON true
LEFT JOIN LATERAL (
    SELECT e."offset", e.appended_at
    FROM event AS e
    WHERE e.topic_id = p.topic_id AND e.partition = p.partition AND e."offset" = greatest(last."offset" - 99, p.hot_offset)
    LIMIT 1 -- without it this becomes a join that reads the whole partition
) AS earlier ON true
WHERE p.topic_id = ANY (%(topics)b::integer[])
ORDER BY p.topic_id, p.partition
