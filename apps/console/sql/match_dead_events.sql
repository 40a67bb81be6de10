-- does: dead events of the given queues, the longest dead first, up to a limit
-- locks: nothing
-- index: queue_event_dead
SELECT asked.home, dead.id
FROM unnest(%(homes)b::uuid[], %(queues)b::integer[]) AS asked (home, queue_id)
CROSS JOIN LATERAL (
    SELECT id
    FROM queue_event
    WHERE queue_id = asked.queue_id AND state = 'dead'
    ORDER BY died_at, n
    LIMIT %(limit)s
) AS dead
LIMIT %(limit)s
