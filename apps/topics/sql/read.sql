-- does: a page of a partition from an offset on, up to a number of events and of bytes, with the bounds of the same instant
-- locks: nothing
-- index: topic_partition primary key, event primary key
SELECT
    p.oldest_offset,
    coalesce(last."offset" + 1, p.hot_offset) AS next_offset,
    page."offset", page.appended_at, page.kind, page.partition_key, page.key, page.body
FROM topic_partition AS p
LEFT JOIN LATERAL (
    SELECT event."offset"
    FROM event
    WHERE event.topic_id = p.topic_id AND event.partition = p.partition AND event."offset" >= p.hot_offset
    ORDER BY event."offset" DESC
    LIMIT 1
) AS last ON true
LEFT JOIN LATERAL (
    SELECT event."offset", event.appended_at, event.kind, event.partition_key, event.key, event.body
    FROM event
    WHERE event.topic_id = p.topic_id AND event.partition = p.partition
        AND event."offset" >= %(first)s::bigint AND event."offset" < %(first)s::bigint + %(limit)s
        AND event.total_bytes - %(max_bytes)s <= (
            SELECT starts.total_bytes
            FROM event AS starts
            WHERE starts.topic_id = p.topic_id AND starts.partition = p.partition AND starts."offset" = %(first)s::bigint
        )
) AS page ON true
WHERE p.topic_id = %(topic_id)s AND p.partition = %(partition)s
ORDER BY page."offset"
