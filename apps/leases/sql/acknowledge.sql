-- does: settles a lease whose generation is still open, remembers it, and derives the committed offset of its partition
-- locks: the lease
-- index: lease_pkey, lease_first, cursor_pkey, consumer_pkey
WITH done AS (
    DELETE FROM lease
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND id = %(lease_id)s
        AND generation = %(generation)s AND state <> 'waiting'
    RETURNING topic_id, consumer_id, id, generation, partition
),
remembered AS (
    INSERT INTO settled (topic_id, consumer_id, id, generation, partition, outcome, at)
    SELECT topic_id, consumer_id, id, generation, partition, 'ok', statement_timestamp() FROM done
)
SELECT
    partition,
    coalesce(
        (
            SELECT min(first_offset)
            FROM lease
            WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND lease.partition = done.partition
                AND id <> %(lease_id)s AND NOT redriven
        ),
        (
            SELECT position
            FROM cursor
            WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND cursor.partition = done.partition
        )
    ) AS unsettled,
    (SELECT ordering FROM consumer WHERE topic_id = %(topic_id)s AND id = %(consumer_id)s) = 'partition' AS frees_partition
FROM done
