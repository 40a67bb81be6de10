-- does: removes the rows of a segment that is verified
-- locks: those rows, which nobody else changes; then index_segment, in the same transaction
-- index: event primary key
DELETE FROM event
WHERE topic_id = %(topic_id)s AND partition = %(partition)s
    AND "offset" >= %(first_offset)s AND "offset" <= %(last_offset)s
RETURNING 1
