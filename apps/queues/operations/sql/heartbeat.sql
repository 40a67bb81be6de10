-- does: sets the end of a lease that is still held
-- locks: the event
-- index: queue_event primary key
UPDATE queue_event SET due_at = statement_timestamp() + %(seconds)s * interval '1 second'
WHERE queue_id = %(queue)s AND id = %(id)s AND state = 'leased' AND lease_token = %(token)s
    AND due_at > statement_timestamp()
RETURNING due_at
