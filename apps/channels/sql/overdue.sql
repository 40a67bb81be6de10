-- does: finds channels that hold more events than their kind keeps, by number, age or bytes; a page in the order of ids
-- locks: nothing
-- index: channel primary key, channel_event primary key
SELECT examined.id, examined.is_overdue
FROM (
    SELECT channel.id, (
        channel.last_sequence - channel.oldest_sequence + 1 > kind.events_records
        OR oldest.at < statement_timestamp() - kind.events_seconds * interval '1 second'
        OR channel.total_bytes - oldest.before > kind.events_bytes
    ) IS TRUE AS is_overdue
    FROM (
        SELECT id, kind_id, last_sequence, oldest_sequence, total_bytes
        FROM channel WHERE id > %(after)s ORDER BY id LIMIT %(limit)s
    ) AS channel
    LEFT JOIN channel_kind AS kind ON kind.id = channel.kind_id
    LEFT JOIN LATERAL (
        SELECT event.at, event.total_bytes - octet_length(event.data) AS before
        FROM channel_event AS event
        WHERE event.channel_id = channel.id AND event.sequence >= channel.oldest_sequence
        ORDER BY event.sequence LIMIT 1
    ) AS oldest ON true
) AS examined
ORDER BY examined.id
