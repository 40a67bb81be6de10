-- does: dead events of the given queues whose error has the fingerprint, the longest dead first, up to a limit
-- locks: nothing
-- index: queue_event_dead_error
SELECT asked.home, dead.id
FROM unnest(%(homes)b::uuid[], %(queues)b::integer[]) AS asked (home, queue_id)
CROSS JOIN LATERAL (
    SELECT id
    FROM queue_event
    WHERE queue_id = asked.queue_id AND state = 'dead' AND error_fingerprint(error) = %(fingerprint)s
    ORDER BY died_at, n
    LIMIT %(limit)s
) AS dead
LIMIT %(limit)s
