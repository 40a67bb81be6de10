-- does: documents of a channel with their sizes, each cut to so many characters
-- locks: nothing
-- index: channel_document primary key
SELECT document.key, document.doc_id, document.sequence, octet_length(document.body), left(document.body, %(characters)s)
FROM channel_document AS document
WHERE document.channel_id = %(channel)s
ORDER BY document.key, document.doc_id LIMIT %(limit)s
