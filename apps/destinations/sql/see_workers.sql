-- does: writes when workers were last seen, and since when without a break of a minute; never moves one back
-- locks: the rows of these workers, in the order of their keys
-- index: worker_seen_pkey
INSERT INTO worker_seen AS known (topic_id, consumer_id, worker, seen_at, seen_since)
SELECT topic_id, consumer_id, worker, at.seen, at.seen
FROM unnest(%(topics)b::integer[], %(consumers)b::integer[], %(workers)b::text[], %(ages)b::double precision[])
    AS seen (topic_id, consumer_id, worker, age)
CROSS JOIN LATERAL (SELECT statement_timestamp() - make_interval(secs => age) AS seen) AS at
ORDER BY topic_id, consumer_id, worker
ON CONFLICT (topic_id, consumer_id, worker) DO UPDATE
SET seen_at = greatest(known.seen_at, excluded.seen_at),
    seen_since = CASE WHEN excluded.seen_at > known.seen_at + interval '60 seconds'
        THEN excluded.seen_since ELSE known.seen_since END
