-- does: the latest events of a channel with the sizes of their data, the newest first
-- locks: nothing
-- index: channel_event primary key
SELECT event.sequence, event.id, event.type, event.at, octet_length(event.data)
FROM channel_event AS event
WHERE event.channel_id = %(channel)s AND event.sequence < %(before)s
ORDER BY event.sequence DESC LIMIT %(limit)s
