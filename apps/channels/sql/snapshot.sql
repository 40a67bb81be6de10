-- does: reads the documents of a channel and the sequence they reflect, in one instant; no row for an unknown kind
-- locks: nothing
-- index: channel_kind (name), channel (name), channel_document primary key
SELECT kind.documents::text, coalesce(channel.last_sequence, 0), document.key, document.doc_id, document.body
FROM channel_kind AS kind
LEFT JOIN channel ON channel.name = %(name)s
LEFT JOIN channel_document AS document ON document.channel_id = channel.id
WHERE kind.name = %(kind)s
ORDER BY document.key, document.doc_id
