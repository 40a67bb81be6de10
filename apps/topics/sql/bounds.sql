-- does: where each partition of a topic begins, where its hot window does, and where it ends; what is hot; since when it can be read
-- locks: nothing
-- index: topic_partition primary key, event primary key
SELECT
    p.partition,
    p.oldest_offset,
    p.hot_offset,
    coalesce(last."offset" + 1, p.hot_offset) AS next_offset,
    coalesce(last.total_bytes, p.bytes_before) - p.bytes_before AS hot_bytes,
    coalesce(cold.first_at, oldest.appended_at) AS replayable_since
FROM topic_partition AS p
LEFT JOIN LATERAL (
    SELECT event."offset", event.total_bytes
    FROM event
    WHERE event.topic_id = p.topic_id AND event.partition = p.partition AND event."offset" >= p.hot_offset
    ORDER BY event."offset" DESC
    LIMIT 1
) AS last ON true
LEFT JOIN event AS oldest
    ON oldest.topic_id = p.topic_id AND oldest.partition = p.partition AND oldest."offset" = p.oldest_offset
LEFT JOIN segment AS cold
    ON cold.topic_id = p.topic_id AND cold.partition = p.partition AND cold.first_offset = p.oldest_offset
WHERE p.topic_id = %(topic_id)s
    AND (%(partition)s::smallint IS NULL OR p.partition = %(partition)s::smallint)
ORDER BY p.partition
