-- does: forgets up to a number of dead letters of a topic that were handed out again long ago and are settled since
-- locks: the dead letters it forgets
-- index: dead_letter_lease, dead_letter_pkey, lease_pkey
DELETE FROM dead_letter
WHERE topic_id = %(topic_id)s AND (consumer_id, id) IN (
    SELECT consumer_id, id
    FROM dead_letter AS old
    WHERE topic_id = %(topic_id)s AND state = 'redriven' AND redriven_at < statement_timestamp() - interval '7 days'
        AND NOT EXISTS (
            SELECT FROM lease
            WHERE lease.topic_id = %(topic_id)s AND lease.consumer_id = old.consumer_id AND lease.id = old.lease_id
        )
    LIMIT %(limit)s
)
RETURNING id
