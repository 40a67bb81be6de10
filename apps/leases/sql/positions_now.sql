-- does: the position of each partition of a consumer
-- locks: nothing
-- index: cursor_pkey
SELECT partition, position
FROM cursor
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
