-- does: the sums over everything since a while, the last of each step, oldest first
-- locks: nothing
-- index: overview_sample_pkey
SELECT DISTINCT ON (date_bin(%(step)s * interval '1 second', at, 'epoch'::timestamptz))
    at, appended, settled, lag_events, in_flight, waiting, queued, queued_dead, connections
FROM overview_sample
WHERE at >= statement_timestamp() - %(seconds)s * interval '1 second'
ORDER BY date_bin(%(step)s * interval '1 second', at, 'epoch'::timestamptz), at DESC
