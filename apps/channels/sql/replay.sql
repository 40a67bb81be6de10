-- does: reads events after a sequence, at most so many and so many bytes, with what is kept; too large ones without data
-- locks: nothing
-- index: channel_kind (name), channel (name), channel_event primary key
SELECT coalesce(channel.last_sequence, 0), coalesce(channel.oldest_sequence, 1),
    page.sequence, page.id, page.type, page.at, page.data
FROM channel_kind AS kind
LEFT JOIN channel ON channel.name = %(name)s
LEFT JOIN LATERAL (
    SELECT found.sequence, found.id, found.type, found.at,
        CASE WHEN octet_length(found.data) <= %(event_bytes)s THEN found.data END AS data
    FROM (
        SELECT event.sequence, event.id, event.type, event.at, event.data,
            event.total_bytes - first_value(event.total_bytes - octet_length(event.data)) OVER by_sequence AS page_bytes,
            first_value(event.sequence) OVER by_sequence AS first
        FROM channel_event AS event
        WHERE event.channel_id = channel.id AND event.sequence > %(after)s AND event.sequence >= channel.oldest_sequence
        WINDOW by_sequence AS (ORDER BY event.sequence)
        ORDER BY event.sequence
        LIMIT %(limit)s
    ) AS found
    WHERE found.page_bytes <= %(page_bytes)s OR found.sequence = found.first
) AS page ON true
WHERE kind.name = %(kind)s
ORDER BY page.sequence
