-- does: gives the event the next sequence of a locked channel and applies its documents; a known id: answers its position
-- locks: nothing but the new rows (the channel's row is locked by the statement before)
-- index: channel (name), channel_event (channel_id, id), channel_document primary key
WITH target AS (
    SELECT channel.id, channel.last_sequence + 1 AS sequence, channel.total_bytes + octet_length(%(data)s::text) AS total_bytes
    FROM channel
    WHERE channel.name = %(name)s AND (
        SELECT known.sequence FROM channel_event AS known WHERE known.channel_id = channel.id AND known.id = %(id)s LIMIT 1
    ) IS NULL
), counted AS (
    UPDATE channel SET
        last_sequence = target.sequence,
        total_bytes = target.total_bytes,
        published_at = statement_timestamp(),
        deleted_at = NULL
    FROM target WHERE channel.id = target.id
), stored AS (
    INSERT INTO channel_event (channel_id, sequence, at, total_bytes, id, type, data)
    SELECT target.id, target.sequence, statement_timestamp(), target.total_bytes, %(id)s, %(type)s, %(data)s FROM target
), removed AS (
    DELETE FROM channel_document AS document
    USING target, unnest(%(keys)b::text[], %(doc_ids)b::text[], %(bodies)b::text[]) AS given (key, doc_id, body)
    WHERE document.channel_id = target.id AND document.key = given.key AND document.doc_id = given.doc_id
        AND given.body IS NULL
), put AS (
    INSERT INTO channel_document (channel_id, key, doc_id, sequence, body)
    SELECT target.id, given.key, given.doc_id, target.sequence, given.body
    FROM target, unnest(%(keys)b::text[], %(doc_ids)b::text[], %(bodies)b::text[]) AS given (key, doc_id, body)
    WHERE given.body IS NOT NULL
    ON CONFLICT (channel_id, key, doc_id) DO UPDATE SET sequence = excluded.sequence, body = excluded.body
)
SELECT target.sequence, false FROM target
UNION ALL
SELECT known.sequence, true
FROM channel_event AS known
WHERE known.channel_id = (SELECT id FROM channel WHERE name = %(name)s) AND known.id = %(id)s
