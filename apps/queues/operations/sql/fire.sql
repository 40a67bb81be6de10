-- does: settles a schedule's times up to a moment and inserts those that fire, unless another scheduler or an edit was first
-- locks: the schedule
-- index: schedule primary key, queue primary key, queue_event_fired
WITH planned AS (
    UPDATE schedule SET
        planned_until = %(until)s, last_due_at = coalesce(%(last)s, schedule.last_due_at),
        missed = schedule.missed + %(missed)s, error = ''
    WHERE schedule.id = %(schedule)s AND schedule.version = %(version)s AND schedule.planned_until = %(after)s
        AND schedule.enabled
        AND (SELECT queue.deleted_at IS NULL FROM queue WHERE queue.id = schedule.queue_id)
    RETURNING schedule.queue_id, schedule.uid, schedule.payload
)
INSERT INTO queue_event (queue_id, id, state, priority, scheduled_at, due_at, schedule_id, enqueued_at, payload)
SELECT planned.queue_id, due.id, CASE WHEN due.at > statement_timestamp() THEN 'waiting' ELSE 'ready' END, 0, due.at,
    CASE WHEN due.at > statement_timestamp() THEN due.at END, planned.uid, statement_timestamp(), planned.payload
FROM planned CROSS JOIN unnest(%(ids)b::uuid[], %(dues)b::timestamptz[]) AS due (id, at)
ORDER BY due.at
ON CONFLICT (queue_id, schedule_id, scheduled_at) WHERE schedule_id IS NOT NULL DO NOTHING
RETURNING id
