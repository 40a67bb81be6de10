-- does: gives events, in their order, the next sequences of their locked channels; a known id: answers its first position
-- locks: nothing but the new rows (the channels' rows are locked by the statement before)
-- index: channel (name), channel_event (channel_id, id)
WITH given AS (
    SELECT given.i, channel.id AS channel_id, given.id, given.type, given.data, known.sequence AS known,
        channel.last_sequence, channel.total_bytes,
        min(given.i) OVER (PARTITION BY channel.id, given.id) AS first
    FROM unnest(%(channels)b::text[], %(ids)b::text[], %(types)b::text[], %(datas)b::text[])
        WITH ORDINALITY AS given (channel, id, type, data, i)
    JOIN channel ON channel.name = given.channel
    LEFT JOIN LATERAL (
        SELECT event.sequence FROM channel_event AS event WHERE event.channel_id = channel.id AND event.id = given.id LIMIT 1
    ) AS known ON true
), placed AS (
    SELECT given.i, given.channel_id, given.id, given.type, given.data,
        given.last_sequence + row_number() OVER in_order AS sequence,
        given.total_bytes + sum(octet_length(given.data)) OVER in_order AS total_bytes
    FROM given
    WHERE given.known IS NULL AND given.i = given.first
    WINDOW in_order AS (PARTITION BY given.channel_id ORDER BY given.i)
), counted AS (
    UPDATE channel SET
        last_sequence = latest.sequence,
        total_bytes = latest.total_bytes,
        published_at = statement_timestamp(),
        deleted_at = NULL
    FROM (
        SELECT placed.channel_id, max(placed.sequence) AS sequence, max(placed.total_bytes) AS total_bytes
        FROM placed GROUP BY placed.channel_id
    ) AS latest
    WHERE channel.id = latest.channel_id
), stored AS (
    INSERT INTO channel_event (channel_id, sequence, at, total_bytes, id, type, data)
    SELECT placed.channel_id, placed.sequence, statement_timestamp(), placed.total_bytes, placed.id, placed.type, placed.data
    FROM placed
)
SELECT coalesce(given.known, placed.sequence), placed.i IS DISTINCT FROM given.i
FROM given
LEFT JOIN placed ON placed.i = given.first
ORDER BY given.i
