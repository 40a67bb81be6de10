-- does: locks the group key of an event, if it has one, before the event is settled
-- locks: the queue_group row
-- index: queue_event primary key, queue_group primary key
SELECT known.group_key FROM queue_group AS known
WHERE known.queue_id = %(queue)s AND known.group_key = (
    SELECT event.group_key FROM queue_event AS event WHERE event.queue_id = %(queue)s AND event.id = %(id)s
)
FOR UPDATE
