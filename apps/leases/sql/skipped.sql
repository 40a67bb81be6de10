-- does: what retention took from a reader unread, the latest first
-- locks: nothing
-- index: skipped_range_pkey
SELECT partition, first_offset, last_offset, at
FROM skipped_range
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
ORDER BY at DESC
LIMIT %(limit)s
