-- does: keeps readers from being handed anything while retention passes them; brings no answer
-- locks: their consumer rows in order, to the end of the transaction
-- index: consumer_pkey
SELECT id
FROM consumer
WHERE topic_id = %(topic_id)s AND id = ANY (%(consumers)b::integer[])
ORDER BY id
FOR NO KEY UPDATE
