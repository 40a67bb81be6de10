-- does: removes a dead letter for good
-- locks: the dead letter
-- index: dead_letter_pkey
DELETE FROM dead_letter
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND id = %(id)s AND state = 'dead'
RETURNING id
