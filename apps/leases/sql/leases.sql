-- does: one page of the leases in force of a consumer, oldest first
-- locks: nothing
-- index: lease_pkey
SELECT
    id, partition, first_offset, next_offset, events, generation, attempt, handouts, worker, error, leased_at, handed_at,
    visible_at,
    CASE WHEN state = 'leased' AND visible_at <= statement_timestamp() THEN 'expired' ELSE state END AS state
FROM lease
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
    AND id > coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000')
ORDER BY id
LIMIT %(limit)s
