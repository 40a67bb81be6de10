-- does: forgets workers not seen for a day, but the last one of each consumer
-- locks: the rows it deletes
-- index: none, a sweep over a small table every ten minutes
DELETE FROM worker_seen AS old
WHERE old.seen_at < statement_timestamp() - interval '1 day'
    AND EXISTS (
        SELECT 1 FROM worker_seen AS newer
        WHERE newer.topic_id = old.topic_id AND newer.consumer_id = old.consumer_id
            AND (newer.seen_at, newer.worker) > (old.seen_at, old.worker)
    )
RETURNING old.worker
