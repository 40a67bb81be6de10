-- does: keeps one sample a consumer for each 15 s of the clock; who comes second for the same 15 s changes nothing
-- locks: the rows it inserts
-- index: lag_sample_pkey
INSERT INTO lag_sample (
    topic_id, consumer_id, at, lag_events, lag_seconds, in_flight, waiting, head, settled, state, cause
)
SELECT
    topic_id, consumer_id, date_bin('15 seconds', statement_timestamp(), timestamptz '1970-01-01 00:00:00+00'),
    lag_events, lag_seconds, in_flight, waiting, head, settled, state, cause
FROM unnest(
    %(topics)b::integer[], %(consumers)b::integer[], %(lag_events)b::bigint[], %(lag_seconds)b::double precision[],
    %(in_flight)b::integer[], %(waiting)b::integer[], %(heads)b::bigint[], %(settled)b::bigint[],
    %(states)b::text[], %(causes)b::text[]
) AS taken (topic_id, consumer_id, lag_events, lag_seconds, in_flight, waiting, head, settled, state, cause)
ON CONFLICT (topic_id, consumer_id, at) DO NOTHING
RETURNING consumer_id
