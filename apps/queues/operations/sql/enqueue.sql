-- does: inserts events in input order, each ready, waiting for its time, or blocked behind another of its group key
-- locks: nothing but the new rows (group keys and idempotency keys are locked by the statements before)
-- index: queue primary key, queue_key primary key, queue_event_group
WITH item AS (
    SELECT given.id, given.payload, given.priority, given.group_key, given.idempotency_key, given.i,
        coalesce(
            taken.scheduled_at, given.scheduled_at, statement_timestamp() + given.delay * interval '1 second'
        ) AS scheduled_at
    FROM unnest(
        %(ids)b::uuid[], %(payloads)b::text[], %(scheduled)b::timestamptz[], %(delays)b::integer[],
        %(priorities)b::smallint[], %(groups)b::text[], %(keys)b::text[]
    ) WITH ORDINALITY AS given (id, payload, scheduled_at, delay, priority, group_key, idempotency_key, i)
    LEFT JOIN queue_key AS taken
        ON taken.queue_id = %(queue)s AND taken.idempotency_key = given.idempotency_key AND taken.event_id = given.id
    WHERE given.idempotency_key IS NULL OR taken.event_id IS NOT NULL
), placed AS (
    SELECT item.id, item.payload, item.priority, item.group_key, item.idempotency_key, item.i, item.scheduled_at, CASE
        WHEN item.group_key IS NOT NULL AND (
            row_number() OVER (PARTITION BY item.group_key ORDER BY item.i) > 1
            OR EXISTS (
                SELECT 1 FROM queue_event AS other
                WHERE other.queue_id = %(queue)s AND other.group_key = item.group_key AND other.state <> 'dead'
            )
        ) THEN 'blocked'
        WHEN item.scheduled_at > statement_timestamp() THEN 'waiting'
        ELSE 'ready'
    END AS state
    FROM item
)
INSERT INTO queue_event (
    queue_id, id, state, priority, scheduled_at, due_at, group_key, idempotency_key, schedule_id, enqueued_at, payload
)
SELECT queue.id, placed.id, placed.state, placed.priority, placed.scheduled_at,
    CASE WHEN placed.state = 'waiting' THEN placed.scheduled_at END,
    placed.group_key, placed.idempotency_key, %(schedule)s::uuid, statement_timestamp(), placed.payload
FROM placed JOIN queue ON queue.id = %(queue)s AND queue.deleted_at IS NULL
ORDER BY placed.i
RETURNING id, scheduled_at, state
