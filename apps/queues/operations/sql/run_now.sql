-- does: makes a waiting event ready now
-- locks: the event
-- index: queue_event primary key
UPDATE queue_event SET state = 'ready', due_at = NULL
WHERE queue_id = %(queue)s AND id = %(id)s AND state = 'waiting'
RETURNING id
