-- does: forgets what a consumer that is deleted had lost to retention
-- locks: those rows; runs under the consumer's lock
-- index: skipped_range_pkey
DELETE FROM skipped_range
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
