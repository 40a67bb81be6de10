-- does: takes the idempotency keys that are free for these events and answers who has each
-- locks: queue_key rows, in the order of the keys
-- index: queue_key primary key
INSERT INTO queue_key AS known (queue_id, idempotency_key, event_id, scheduled_at)
SELECT %(queue)s, fresh.idempotency_key, fresh.id, fresh.scheduled_at
FROM (
    SELECT DISTINCT ON (item.idempotency_key COLLATE "C") item.idempotency_key, item.id,
        coalesce(item.scheduled_at, statement_timestamp() + item.delay * interval '1 second') AS scheduled_at
    FROM unnest(%(ids)b::uuid[], %(keys)b::text[], %(scheduled)b::timestamptz[], %(delays)b::integer[])
        WITH ORDINALITY AS item (id, idempotency_key, scheduled_at, delay, i)
    WHERE item.idempotency_key IS NOT NULL
    ORDER BY item.idempotency_key COLLATE "C", item.i
) AS fresh
ON CONFLICT (queue_id, idempotency_key) DO UPDATE SET
    event_id = CASE WHEN known.free_at <= statement_timestamp() THEN excluded.event_id ELSE known.event_id END,
    scheduled_at = CASE WHEN known.free_at <= statement_timestamp() THEN excluded.scheduled_at ELSE known.scheduled_at END,
    free_at = CASE WHEN known.free_at <= statement_timestamp() THEN NULL ELSE known.free_at END
RETURNING known.idempotency_key, known.event_id, known.scheduled_at
