-- does: an operator ends a lease: due at once, its generation closed as expired so that the worker's acknowledgement is stale
-- locks: the lease
-- index: lease_pkey
WITH held AS (
    SELECT id, generation, partition, state
    FROM lease
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND id = %(lease_id)s
    FOR UPDATE
),
closed AS (
    INSERT INTO settled (topic_id, consumer_id, id, generation, partition, outcome, at)
    SELECT %(topic_id)s, %(consumer_id)s, id, generation, partition, 'expired', statement_timestamp()
    FROM held
    WHERE state <> 'waiting'
)
UPDATE lease
SET state = 'waiting', visible_at = statement_timestamp()
FROM held
WHERE lease.topic_id = %(topic_id)s AND lease.consumer_id = %(consumer_id)s AND lease.id = held.id
RETURNING lease.id
