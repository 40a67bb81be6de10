-- does: names events whose last lease has ended, with their group keys
-- locks: nothing
-- index: queue primary key, queue_event_due
SELECT event.id, event.group_key
FROM queue JOIN queue_event AS event ON event.queue_id = queue.id
WHERE queue.id = %(queue)s AND event.queue_id = %(queue)s AND event.state IN ('leased', 'waiting')
    AND event.state = 'leased' AND event.due_at <= statement_timestamp() AND event.attempts >= queue.max_attempts
ORDER BY event.due_at LIMIT 500
