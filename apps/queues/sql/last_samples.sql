-- does: finds the newest sample of each queue and the one before
-- locks: nothing
-- index: queue_sample primary key of each day
SELECT given.queue_id, sample.at, sample.ready, sample.scheduled, sample.in_flight, sample.blocked, sample.dead,
    sample.exact, sample.oldest_at, sample.settled
FROM unnest(%(queues)b::integer[]) AS given (queue_id)
CROSS JOIN LATERAL (
    SELECT at, ready, scheduled, in_flight, blocked, dead, exact, oldest_at, settled
    FROM queue_sample
    WHERE queue_sample.queue_id = given.queue_id AND at > statement_timestamp() - interval '1 hour'
    ORDER BY at DESC LIMIT 2
) AS sample
