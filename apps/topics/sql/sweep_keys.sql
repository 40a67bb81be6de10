-- does: removes up to `limit` dedup keys of a deleted topic
-- locks: those rows, which nobody else uses any more
-- index: dedup primary key
DELETE FROM dedup
WHERE topic_id = %(topic_id)s AND (partition, key_hash, day) IN (
    SELECT kept.partition, kept.key_hash, kept.day
    FROM dedup AS kept
    WHERE kept.topic_id = %(topic_id)s
    LIMIT %(limit)s
)
RETURNING 1
