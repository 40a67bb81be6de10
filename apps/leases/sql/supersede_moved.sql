-- does: ends up to a number of a consumer's leases in partitions that are moved: late acknowledgements are stale; redriven ones stay; says the events
-- locks: the leases it ends; runs under the consumer's lock
-- index: lease_first, lease_pkey
WITH ended AS (
    DELETE FROM lease
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
        AND id IN (
            SELECT id
            FROM lease
            WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
                AND partition = ANY (%(partitions)b::smallint[]) AND NOT redriven
            LIMIT %(limit)s
        )
    RETURNING topic_id, consumer_id, id, generation, partition, events
),
remembered AS (
    INSERT INTO settled (topic_id, consumer_id, id, generation, partition, outcome, at)
    SELECT topic_id, consumer_id, id, generation, partition, 'superseded', statement_timestamp() FROM ended
)
SELECT partition, sum(events)::bigint FROM ended GROUP BY partition
