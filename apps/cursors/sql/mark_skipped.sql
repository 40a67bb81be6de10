-- does: notes that retention went past consumers, so that their next batch tells
-- locks: their rows, which the caller holds
-- index: consumer_pkey
UPDATE consumer
SET has_skipped = true
WHERE topic_id = %(topic_id)s AND id = ANY (%(consumers)b::integer[]) AND kind = 'destination'
