-- does: lag and what was settled of the asked consumers since a while, averaged over steps, oldest first
-- locks: nothing
-- index: lag_sample_pkey
SELECT
    s.topic_id, s.consumer_id, date_bin(%(step)s * interval '1 second', s.at, 'epoch'::timestamptz) AS step,
    max(s.lag_events) AS lag_events, max(s.lag_seconds) AS lag_seconds, max(s.head) AS head, max(s.settled) AS settled,
    max(s.in_flight) AS in_flight, max(s.waiting) AS waiting
FROM unnest(%(topics)b::integer[], %(consumers)b::integer[]) AS asked (topic_id, id)
JOIN lag_sample AS s ON s.topic_id = asked.topic_id AND s.consumer_id = asked.id
WHERE s.at >= statement_timestamp() - %(seconds)s * interval '1 second'
GROUP BY s.topic_id, s.consumer_id, step
ORDER BY s.topic_id, s.consumer_id, step
