-- does: a page of a partition from an offset on: the segments it begins in, the rows it goes on with, the bounds, of one instant
-- locks: nothing
-- index: topic_partition primary key, event primary key, segment primary key
SELECT
    p.oldest_offset,
    coalesce(last."offset" + 1, p.hot_offset) AS next_offset,
    cold.segments,
    page."offset", page.appended_at, page.total_bytes, page.kind, page.partition_key, page.key, page.type, page.source,
    page.subject, page.body
FROM topic_partition AS p
LEFT JOIN LATERAL (
    SELECT event."offset"
    FROM event
    WHERE event.topic_id = p.topic_id AND event.partition = p.partition AND event."offset" >= p.hot_offset
    ORDER BY event."offset" DESC
    LIMIT 1
) AS last ON true
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_array(s.first_offset, s.last_offset, s.records, s.sha256, s.locator) ORDER BY s.first_offset)
        AS segments
    FROM segment AS s
    WHERE s.topic_id = p.topic_id AND s.partition = p.partition AND s.forgotten_at IS NULL
        AND s.first_offset < %(first)s::bigint + %(limit)s AND s.last_offset >= %(first)s::bigint
        AND %(first)s::bigint < p.hot_offset
        AND s.first_offset >= coalesce((
            SELECT before.first_offset
            FROM segment AS before
            WHERE before.topic_id = p.topic_id AND before.partition = p.partition
                AND before.first_offset <= %(first)s::bigint
            ORDER BY before.first_offset DESC
            LIMIT 1
        ), 0)
) AS cold ON true
LEFT JOIN LATERAL (
    SELECT
        event."offset", event.appended_at, event.total_bytes, event.kind, event.partition_key, event.key, event.type,
        event.source, event.subject, event.body
    FROM event
    WHERE event.topic_id = p.topic_id AND event.partition = p.partition
        AND event."offset" >= greatest(%(first)s::bigint, p.hot_offset)
        AND event."offset" < %(first)s::bigint + %(limit)s
        AND event.total_bytes - %(max_bytes)s <= (
            SELECT starts.total_bytes
            FROM event AS starts
            WHERE starts.topic_id = p.topic_id AND starts.partition = p.partition
                AND starts."offset" = greatest(%(first)s::bigint, p.hot_offset)
        )
) AS page ON true
WHERE p.topic_id = %(topic_id)s AND p.partition = %(partition)s
ORDER BY page."offset"
