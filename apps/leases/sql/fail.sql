-- does: gives a lease of an open generation back, whole or only the offsets named, and closes the generation; not a spent one
-- locks: the lease
-- index: lease_pkey, lease_first, cursor_pkey, consumer_pkey
WITH held AS (
    SELECT lease.id, partition, first_offset, next_offset, generation, attempt, picked, retry_backoff,
        max_deliveries > 0 AND handouts >= max_deliveries AS spent
    FROM lease JOIN consumer ON consumer.topic_id = lease.topic_id AND consumer.id = lease.consumer_id
    WHERE lease.topic_id = %(topic_id)s AND lease.consumer_id = %(consumer_id)s AND lease.id = %(lease_id)s
        AND lease.generation = %(generation)s AND lease.state <> 'waiting'
    FOR UPDATE OF lease
),
kept AS (
    SELECT min(failed) AS first_offset, max(failed) + 1 AS next_offset, array_agg(failed ORDER BY failed) AS offsets
    FROM held CROSS JOIN unnest(%(failed_offsets)b::bigint[]) AS failed
    WHERE partition = %(failed_partition)s AND failed >= first_offset AND failed < next_offset
        AND (picked IS NULL OR failed - first_offset = ANY (picked))
    HAVING count(*) = cardinality(%(failed_offsets)b::bigint[])
),
returned AS (
    UPDATE lease
    SET state = 'waiting',
        error = %(error)s,
        visible_at = statement_timestamp() + interval '1 second' * coalesce(
            %(delay)s,
            CASE WHEN retry_backoff THEN least(60, power(2, least(held.attempt, 7) - 1)) * %(jitter)s ELSE 0 END
        ),
        first_offset = coalesce(kept.first_offset, lease.first_offset),
        next_offset = coalesce(kept.next_offset, lease.next_offset),
        events = coalesce(cardinality(kept.offsets), events),
        picked = CASE WHEN kept.offsets IS NULL THEN lease.picked
            WHEN kept.next_offset - kept.first_offset > cardinality(kept.offsets)
            THEN (SELECT array_agg(failed - kept.first_offset ORDER BY failed) FROM unnest(kept.offsets) AS failed) END
    FROM held LEFT JOIN kept ON true
    WHERE lease.topic_id = %(topic_id)s AND lease.consumer_id = %(consumer_id)s AND lease.id = held.id
        AND NOT held.spent AND (%(failed_offsets)b::bigint[] IS NULL OR kept.offsets IS NOT NULL)
    RETURNING lease.id, lease.generation, lease.partition, lease.first_offset, lease.redriven
),
remembered AS (
    INSERT INTO settled (topic_id, consumer_id, id, generation, partition, outcome, at)
    SELECT %(topic_id)s, %(consumer_id)s, id, generation, partition, 'failed', statement_timestamp() FROM returned
)
SELECT
    held.partition,
    least(
        (SELECT first_offset FROM returned WHERE NOT redriven),
        coalesce(
            (
                SELECT min(first_offset)
                FROM lease
                WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND lease.partition = held.partition
                    AND id <> %(lease_id)s AND NOT redriven
            ),
            (
                SELECT position
                FROM cursor
                WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND cursor.partition = held.partition
            )
        )
    ) AS unsettled,
    EXISTS (SELECT FROM returned) AS was_returned,
    held.spent
FROM held
