-- does: events of queues that workers hold, those that end first, after the given place; of each queue a bounded number is looked at
-- locks: nothing
-- index: queue_event_due
SELECT asked.queue_id, held.due_at, held.id, held.leased_by, held.attempts, held.error, held.group_key,
    CASE WHEN held.due_at <= statement_timestamp() THEN 'expired' ELSE 'leased' END AS state
FROM unnest(%(queues)b::integer[]) AS asked (queue_id)
CROSS JOIN LATERAL (
    SELECT due_at, id, leased_by, attempts, error, group_key, state
    FROM queue_event
    WHERE queue_id = asked.queue_id AND state IN ('leased', 'waiting')
        AND due_at >= CASE WHEN asked.queue_id = %(queue_id)s THEN %(due_at)s::timestamptz ELSE '-infinity' END
    ORDER BY due_at
    LIMIT %(most)s
) AS held
WHERE held.state = 'leased' AND (asked.queue_id, held.due_at, held.id) > (%(queue_id)s, %(due_at)s::timestamptz, %(id)s)
    AND (%(worker)s::text IS NULL OR held.leased_by = %(worker)s)
ORDER BY asked.queue_id, held.due_at, held.id
LIMIT %(limit)s
