-- does: makes whatever changes a consumer or hands out for it take turns; brings no answer, since it may have waited
-- locks: the consumer's row, until the end of the transaction
-- index: consumer_pkey
SELECT id
FROM consumer
WHERE topic_id = %(topic_id)s AND id = %(consumer_id)s
FOR NO KEY UPDATE
