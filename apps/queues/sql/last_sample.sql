-- does: finds the newest sample of a queue and the one before
-- locks: nothing
-- index: queue_sample primary key
SELECT at, ready, scheduled, in_flight, blocked, dead, exact, oldest_at, settled
FROM queue_sample WHERE queue_id = %(queue)s AND at > statement_timestamp() - interval '1 hour'
ORDER BY at DESC LIMIT 2
