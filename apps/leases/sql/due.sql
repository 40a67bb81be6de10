-- does: says when the passing of time alone could make something pullable: the next end of a lease or of a delay, or of the pause
-- locks: nothing
-- index: consumer_pkey, lease_visible
SELECT extract(epoch FROM least(
    (
        SELECT min(visible_at)
        FROM lease
        WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND visible_at > statement_timestamp()
    ),
    CASE WHEN paused_at IS NOT NULL AND resume_at > statement_timestamp() THEN resume_at END
) - statement_timestamp())::float8
FROM consumer
WHERE topic_id = %(topic_id)s AND id = %(consumer_id)s
