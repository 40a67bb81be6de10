-- does: removes up to 1,000 idempotency keys whose day after the event is over
-- locks: those keys, skipping locked ones
-- index: queue_key_free, queue_key primary key
DELETE FROM queue_key AS taken
WHERE taken.queue_id = %(queue)s AND taken.idempotency_key = ANY (ARRAY(
    SELECT old.idempotency_key FROM queue_key AS old
    WHERE old.queue_id = %(queue)s AND old.free_at <= statement_timestamp()
    ORDER BY old.free_at LIMIT 1000 FOR UPDATE SKIP LOCKED
))
RETURNING taken.idempotency_key
