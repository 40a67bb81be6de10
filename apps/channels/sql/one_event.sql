-- does: one event of a channel
-- locks: nothing
-- index: channel_event primary key
SELECT event.sequence, event.id, event.type, event.at, event.data
FROM channel_event AS event
WHERE event.channel_id = %(channel)s AND event.sequence = %(sequence)s
