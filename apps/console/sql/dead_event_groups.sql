-- does: the latest dead events of each queue by fingerprint of their error: how many of them, first and last seen
-- locks: nothing
-- index: queue_event_dead
SELECT
    latest.queue_id, latest.fingerprint, (array_agg(latest.error ORDER BY latest.died_at DESC))[1] AS error,
    count(*) AS number, min(latest.died_at) AS first_at, max(latest.died_at) AS last_at
FROM (
    SELECT asked.queue_id, dead.died_at, left(dead.error, 300) AS error, error_fingerprint(dead.error) AS fingerprint
    FROM unnest(%(queues)b::integer[]) AS asked (queue_id)
    CROSS JOIN LATERAL (
        SELECT died_at, error
        FROM queue_event
        WHERE queue_id = asked.queue_id AND state = 'dead'
        ORDER BY died_at DESC, n DESC
        LIMIT %(most)s
    ) AS dead
) AS latest
GROUP BY latest.queue_id, latest.fingerprint
