-- does: answers the samples of a queue since a moment, the last of each step of time
-- locks: nothing
-- index: queue_sample primary key of each day
SELECT DISTINCT ON (date_bin(%(step)s * interval '1 second', at, 'epoch'))
    at, ready, scheduled, in_flight, blocked, dead, exact, oldest_at, settled
FROM queue_sample
WHERE queue_id = %(queue)s AND at > statement_timestamp() - %(seconds)s * interval '1 second'
ORDER BY date_bin(%(step)s * interval '1 second', at, 'epoch'), at DESC
