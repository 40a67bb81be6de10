-- does: the first row of a partition that was appended at a time or later
-- locks: nothing
-- index: event primary key
SELECT "offset"
FROM event
WHERE topic_id = %(topic_id)s AND partition = %(partition)s AND "offset" >= %(first)s AND appended_at >= %(time)s
ORDER BY "offset"
LIMIT 1
