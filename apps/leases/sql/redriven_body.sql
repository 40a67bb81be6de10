-- does: the event of a redriven lease, from the copy: retention may have taken the original
-- locks: nothing
-- index: dead_letter_lease
SELECT body
FROM dead_letter
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND lease_id = %(lease_id)s AND state = 'redriven'
