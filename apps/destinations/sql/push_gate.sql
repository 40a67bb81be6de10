-- does: says how often in a row a webhook has failed, for how many seconds it is left alone, and the secrets in force, newest first
-- locks: nothing
-- index: destination primary key, push_state primary key, webhook_secret (destination)
SELECT
    coalesce(state.failures, 0),
    coalesce(extract(epoch FROM state.next_attempt_at - statement_timestamp())::float8, 0),
    ARRAY(
        SELECT secret
        FROM webhook_secret
        WHERE destination_id = %(destination)s AND (expires_at IS NULL OR expires_at > statement_timestamp())
        ORDER BY created_at DESC
    )
FROM (SELECT id FROM destination WHERE id = %(destination)s) AS known
LEFT JOIN push_state AS state ON state.destination_id = known.id
