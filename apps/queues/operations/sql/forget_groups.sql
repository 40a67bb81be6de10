-- does: removes up to 1,000 group keys that nobody used for an hour and no living event has
-- locks: those keys, skipping locked ones
-- index: queue_group primary key, queue_event_group
DELETE FROM queue_group AS known
WHERE known.queue_id = %(queue)s AND known.group_key = ANY (ARRAY(
    SELECT idle.group_key FROM queue_group AS idle
    WHERE idle.queue_id = %(queue)s AND idle.touched_at < statement_timestamp() - interval '1 hour' AND NOT EXISTS (
        SELECT 1 FROM queue_event AS event
        WHERE event.queue_id = %(queue)s AND event.group_key = idle.group_key AND event.state <> 'dead'
    )
    LIMIT 1000 FOR UPDATE SKIP LOCKED
))
RETURNING known.group_key
