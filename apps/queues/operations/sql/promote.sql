-- does: makes up to 1,000 events ready whose time has come or whose lease has ended; counts the exhausted it leaves to park
-- locks: those events, skipping locked ones
-- index: queue primary key, queue_event_due, queue_event primary key
WITH due AS (
    SELECT event.id, event.state = 'leased' AND event.attempts >= queue.max_attempts AS exhausted
    FROM queue JOIN queue_event AS event ON event.queue_id = queue.id
    WHERE queue.id = %(queue)s AND event.queue_id = %(queue)s AND event.state IN ('leased', 'waiting')
        AND event.due_at <= statement_timestamp() AND event.n > queue.purged_to
    ORDER BY event.due_at LIMIT 1000
    FOR UPDATE OF event SKIP LOCKED
), promoted AS (
    UPDATE queue_event AS event SET state = 'ready', due_at = NULL, lease_token = NULL, leased_by = NULL
    WHERE event.queue_id = %(queue)s AND event.id = ANY (ARRAY(SELECT due.id FROM due WHERE NOT due.exhausted))
    RETURNING event.id
)
SELECT (SELECT count(*) FROM promoted) AS promoted, (SELECT count(*) FROM due WHERE due.exhausted) AS exhausted
