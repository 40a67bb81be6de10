-- does: of samples older than a day keeps the first of each five minutes; looks back three days, older ones have been thinned
-- locks: the rows it deletes
-- index: lag_sample_pkey
DELETE FROM lag_sample AS late
USING unnest(%(topics)b::integer[], %(consumers)b::integer[]) AS asked (topic_id, consumer_id)
WHERE late.topic_id = asked.topic_id AND late.consumer_id = asked.consumer_id
    AND late.at >= statement_timestamp() - interval '3 days' AND late.at < statement_timestamp() - interval '1 day'
    AND EXISTS (
        SELECT 1 FROM lag_sample AS first
        WHERE first.topic_id = late.topic_id AND first.consumer_id = late.consumer_id AND first.at < late.at
            AND first.at >= date_bin('5 minutes', late.at, timestamptz '1970-01-01 00:00:00+00')
    )
RETURNING late.consumer_id
