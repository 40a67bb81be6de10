-- does: the newest sample of every consumer, its name and dead letters (up to a bound); none when it is older than five minutes
-- locks: nothing
-- index: none for consumer, which is read whole; lag_sample_pkey, dead_letter_fingerprint
SELECT
    consumer.kind, topic.name AS topic, coalesce(destination.name, consumer.name) AS name,
    sample.at, sample.lag_events, sample.lag_seconds, sample.in_flight, sample.waiting, sample.state, sample.cause, dead.number
FROM consumer
JOIN topic ON topic.id = consumer.topic_id
LEFT JOIN destination ON destination.topic_id = consumer.topic_id AND destination.consumer_id = consumer.id
CROSS JOIN LATERAL (
    SELECT at, lag_events, lag_seconds, in_flight, waiting, state, cause
    FROM lag_sample
    WHERE lag_sample.topic_id = consumer.topic_id AND lag_sample.consumer_id = consumer.id
        AND at >= statement_timestamp() - interval '5 minutes'
    ORDER BY at DESC
    LIMIT 1
) AS sample
CROSS JOIN LATERAL (
    SELECT count(*) AS number
    FROM (
        SELECT 1
        FROM dead_letter
        WHERE dead_letter.topic_id = consumer.topic_id AND dead_letter.consumer_id = consumer.id AND dead_letter.state = 'dead'
        LIMIT %(most)s
    ) AS few
) AS dead
ORDER BY topic.name, name
