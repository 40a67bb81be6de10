-- does: hands a dead letter to its consumer again, as a lease of its own outside `committed`, due now, its first attempt ahead
-- locks: the dead letter
-- index: dead_letter_pkey
WITH revived AS (
    UPDATE dead_letter
    SET state = 'redriven', redriven_at = statement_timestamp(), lease_id = %(lease_id)s
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND id = %(id)s AND state = 'dead'
    RETURNING topic_id, consumer_id, partition, "offset", error
)
INSERT INTO lease (
    topic_id, consumer_id, id, partition, redriven, first_offset, next_offset, events, generation, attempt, handouts,
    leased_at, handed_at, visible_at, state, worker, error
)
SELECT
    topic_id, consumer_id, %(lease_id)s, partition, true, "offset", "offset" + 1, 1, 0, 0, 0,
    statement_timestamp(), statement_timestamp(), statement_timestamp(), 'waiting', '', error
FROM revived
RETURNING id
