-- does: says what an empty claim may wait for: whether the queue lives, is paused, and when something falls due
-- locks: nothing
-- index: queue primary key, queue_event_due
SELECT
    queue.paused_at IS NOT NULL AS paused,
    extract(epoch FROM (
        SELECT event.due_at FROM queue_event AS event
        WHERE event.queue_id = %(queue)s AND event.state IN ('leased', 'waiting')
        ORDER BY event.due_at LIMIT 1
    ) - statement_timestamp())::float8 AS due_in
FROM queue WHERE queue.id = %(queue)s AND queue.deleted_at IS NULL
