-- does: finds the live queue that knows an event, for a call whose token names none
-- locks: nothing
-- index: none for queue (small, read whole); queue_event primary key and queue_settled (queue_id, id) for each
SELECT queue.id FROM queue
WHERE queue.deleted_at IS NULL AND (
    EXISTS (SELECT 1 FROM queue_event AS event WHERE event.queue_id = queue.id AND event.id = %(id)s)
    OR EXISTS (SELECT 1 FROM queue_settled AS settled WHERE settled.queue_id = queue.id AND settled.id = %(id)s)
)
LIMIT 1
