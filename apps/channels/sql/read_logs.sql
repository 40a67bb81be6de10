-- does: reads log lines after a number, at most so many and so many bytes; bounds on time leave few partitions to look into
-- locks: nothing
-- index: channel_kind (name), channel (name), channel_log primary key
SELECT coalesce(channel.last_log, 0), page.sequence, page.time, page.level, page.message, page.fields
FROM channel_kind AS kind
LEFT JOIN channel ON channel.name = %(name)s
LEFT JOIN LATERAL (
    SELECT found.sequence, found.time, found.level, found.message, found.fields
    FROM (
        SELECT line.sequence, line.time, line.level, line.message, line.fields,
            sum(octet_length(line.message) + coalesce(octet_length(line.fields), 0)) OVER by_sequence AS page_bytes,
            first_value(line.sequence) OVER by_sequence AS first
        FROM channel_log AS line
        WHERE line.channel_id = channel.id AND line.sequence > %(after)s
            AND line.at > statement_timestamp() - kind.logs_seconds * interval '1 second'
            AND line.at < statement_timestamp() + interval '1 day'
        WINDOW by_sequence AS (ORDER BY line.sequence)
        ORDER BY line.sequence
        LIMIT %(limit)s
    ) AS found
    WHERE found.page_bytes <= %(page_bytes)s OR found.sequence = found.first
) AS page ON true
WHERE kind.name = %(kind)s
ORDER BY page.sequence
