-- does: closes the breaker of a webhook that answers again
-- locks: the state of the destination
-- index: push_state primary key
UPDATE push_state
SET failures = 0, failing_since = NULL, next_attempt_at = NULL, last_error = '',
    held_code = NULL, held_text = '', held_since = NULL
WHERE destination_id = %(destination)s AND failures > 0
RETURNING destination_id
