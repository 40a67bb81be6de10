-- does: who holds each partition of a group at this instant, null for nobody
-- locks: nothing
-- index: cursor_pkey
SELECT partition, CASE WHEN held_until > statement_timestamp() THEN holder END AS holder
FROM cursor
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
ORDER BY partition
