-- does: locks the group keys of several events before they are settled
-- locks: queue_group rows, in the order of the keys
-- index: queue_event primary key, queue_group primary key
SELECT known.group_key FROM queue_group AS known
WHERE known.queue_id = %(queue)s AND known.group_key = ANY (ARRAY(
    SELECT event.group_key FROM queue_event AS event
    WHERE event.queue_id = %(queue)s AND event.id = ANY (%(ids)b::uuid[]) AND event.group_key IS NOT NULL
))
ORDER BY known.group_key
FOR UPDATE
