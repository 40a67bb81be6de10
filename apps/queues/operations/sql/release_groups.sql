-- does: lets the first living event of each group key come forward if it is still blocked
-- locks: those events (the keys were locked by a statement before)
-- index: queue_event_group, queue_event primary key
UPDATE queue_event AS event SET
    state = CASE WHEN event.scheduled_at > statement_timestamp() THEN 'waiting' ELSE 'ready' END,
    due_at = CASE WHEN event.scheduled_at > statement_timestamp() THEN event.scheduled_at END
FROM (SELECT DISTINCT group_key FROM unnest(%(groups)b::text[]) AS given (group_key)) AS touched
CROSS JOIN LATERAL (
    SELECT first.id, first.state FROM queue_event AS first
    WHERE first.queue_id = %(queue)s AND first.group_key = touched.group_key AND first.state <> 'dead'
    ORDER BY first.n LIMIT 1
) AS head
WHERE head.state = 'blocked' AND event.queue_id = %(queue)s AND event.id = head.id
RETURNING event.id
