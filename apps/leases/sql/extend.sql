-- does: sets the end of a lease of an open generation to now + visibility, also when it had expired and nobody else has it yet
-- locks: the lease
-- index: lease_pkey
UPDATE lease
SET visible_at = statement_timestamp() + %(visibility)s * interval '1 second', state = 'leased'
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND id = %(lease_id)s
    AND generation = coalesce(%(generation)s, generation) AND state <> 'waiting'
RETURNING visible_at
