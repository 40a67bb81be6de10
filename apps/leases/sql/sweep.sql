-- does: notes leases of a topic that ran out, so that waiters are woken and each expiry is counted once; expiry itself needs no sweep
-- locks: the leases it notes, passing over those in use
-- index: consumer_pkey, lease_visible, lease_pkey
WITH over AS (
    SELECT ended.consumer_id, ended.id
    FROM consumer CROSS JOIN LATERAL (
        SELECT consumer_id, id
        FROM lease
        WHERE topic_id = %(topic_id)s AND consumer_id = consumer.id AND state = 'leased'
            AND visible_at <= statement_timestamp()
        ORDER BY visible_at
        LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    ) AS ended
    WHERE consumer.topic_id = %(topic_id)s
)
UPDATE lease
SET state = 'expired'
FROM over
WHERE lease.topic_id = %(topic_id)s AND lease.consumer_id = over.consumer_id AND lease.id = over.id
    AND lease.state = 'leased' AND lease.visible_at <= statement_timestamp()
RETURNING lease.consumer_id
