-- does: writes when workers were last seen; never moves one back
-- locks: the rows of these workers, in the order of their keys
-- index: worker_seen_pkey
INSERT INTO worker_seen AS known (topic_id, consumer_id, worker, seen_at)
SELECT topic_id, consumer_id, worker, statement_timestamp() - make_interval(secs => age)
FROM unnest(%(topics)b::integer[], %(consumers)b::integer[], %(workers)b::text[], %(ages)b::double precision[])
    AS seen (topic_id, consumer_id, worker, age)
ORDER BY topic_id, consumer_id, worker
ON CONFLICT (topic_id, consumer_id, worker) DO UPDATE
SET seen_at = greatest(known.seen_at, excluded.seen_at)
