-- does: replaces a dead event by a new one at the end of its group key
-- locks: the dead event (its group key was locked by the statement before)
-- index: queue_event primary key, queue_event_group, queue_key primary key
WITH dead AS (
    DELETE FROM queue_event WHERE queue_id = %(queue)s AND id = %(id)s AND state = 'dead'
    RETURNING priority, group_key, idempotency_key, schedule_id, payload
), freed AS (
    UPDATE queue_key SET free_at = statement_timestamp() + interval '24 hours'
    WHERE queue_id = %(queue)s AND idempotency_key = (SELECT dead.idempotency_key FROM dead) AND event_id = %(id)s
)
INSERT INTO queue_event (queue_id, id, state, priority, scheduled_at, group_key, schedule_id, caused_by, enqueued_at, payload)
SELECT %(queue)s, %(new_id)s, CASE WHEN dead.group_key IS NOT NULL AND EXISTS (
        SELECT 1 FROM queue_event AS other
        WHERE other.queue_id = %(queue)s AND other.group_key = dead.group_key AND other.state <> 'dead'
    ) THEN 'blocked' ELSE 'ready' END,
    dead.priority, statement_timestamp(), dead.group_key, dead.schedule_id, %(id)s, statement_timestamp(), dead.payload
FROM dead
RETURNING id, scheduled_at, state
