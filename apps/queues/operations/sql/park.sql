-- does: gives up those of the named events that are still exhausted
-- locks: those events, skipping locked ones (their group keys were locked by the statement before)
-- index: queue primary key, queue_event primary key
UPDATE queue_event AS event SET
    state = 'dead', died_at = statement_timestamp(), due_at = NULL, lease_token = NULL, leased_by = NULL,
    error = coalesce(event.error, 'The lease ended without an answer.')
WHERE event.queue_id = %(queue)s AND event.id = ANY (ARRAY(
    SELECT candidate.id FROM queue_event AS candidate JOIN queue ON queue.id = %(queue)s
    WHERE candidate.queue_id = %(queue)s AND candidate.id = ANY (%(ids)b::uuid[])
        AND candidate.state = 'leased' AND candidate.due_at <= statement_timestamp()
        AND candidate.attempts >= queue.max_attempts
    FOR UPDATE OF candidate SKIP LOCKED
))
RETURNING event.id
