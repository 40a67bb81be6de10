-- does: forgets the positions of a consumer
-- locks: its cursor rows; runs under the consumer's lock
-- index: cursor_pkey
DELETE FROM cursor
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
