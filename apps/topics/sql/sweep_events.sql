-- does: removes up to `limit` events of one partition of a deleted topic, the oldest first
-- locks: those rows, which nobody else uses any more
-- index: event primary key
DELETE FROM event
WHERE topic_id = %(topic_id)s AND partition = %(partition)s AND "offset" < (
    SELECT min(oldest."offset") + %(limit)s
    FROM event AS oldest
    WHERE oldest.topic_id = %(topic_id)s AND oldest.partition = %(partition)s
)
RETURNING 1
