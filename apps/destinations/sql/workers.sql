-- does: the workers that pulled from a consumer, the latest first
-- locks: nothing
-- index: worker_seen_last
SELECT worker, seen_at
FROM worker_seen
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
ORDER BY seen_at DESC
LIMIT %(limit)s
