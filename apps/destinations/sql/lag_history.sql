-- does: the samples of one consumer over a span, oldest first
-- locks: nothing
-- index: lag_sample_pkey
SELECT at, lag_events, lag_seconds, in_flight, waiting, head, settled, state, cause
FROM lag_sample
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
    AND at >= statement_timestamp() - make_interval(secs => %(seconds)s)
ORDER BY at
