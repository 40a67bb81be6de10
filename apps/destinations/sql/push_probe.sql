-- does: takes the one probe of an open breaker: whoever gets a row may send, the others wait as long again
-- locks: the state of the destination
-- index: push_state primary key
UPDATE push_state
SET next_attempt_at = statement_timestamp() + %(seconds)s * interval '1 second'
WHERE destination_id = %(destination)s AND next_attempt_at <= statement_timestamp()
RETURNING destination_id
