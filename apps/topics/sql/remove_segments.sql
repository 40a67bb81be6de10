-- does: takes up to `limit` segments of a deleted topic out of the index
-- locks: those rows, which nobody else uses any more
-- index: segment primary key
DELETE FROM segment
WHERE topic_id = %(topic_id)s AND (partition, first_offset) IN (
    SELECT kept.partition, kept.first_offset
    FROM segment AS kept
    WHERE kept.topic_id = %(topic_id)s
    LIMIT %(limit)s
)
RETURNING locator
