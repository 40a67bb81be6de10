-- does: what is known of a lease that an acknowledgement did not find open: its generation now, its outcomes, its partition
-- locks: nothing
-- index: lease_pkey, settled_pkey, lease_first, cursor_pkey
WITH live AS (
    SELECT partition, generation, state
    FROM lease
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND id = %(lease_id)s
),
past AS (
    SELECT partition, generation, outcome
    FROM settled
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND id = %(lease_id)s
        AND at > statement_timestamp() - interval '2 days'
),
known AS (
    SELECT partition, generation FROM live
    UNION ALL
    SELECT partition, generation FROM past
),
latest AS (
    SELECT min(partition) AS partition, max(generation) AS generation FROM known HAVING count(*) > 0
)
SELECT
    latest.partition,
    latest.generation,
    (SELECT outcome FROM past WHERE generation = %(generation)s LIMIT 1) AS outcome,
    EXISTS (SELECT FROM live WHERE generation = %(generation)s AND state <> 'waiting') AS is_open,
    coalesce(
        (
            SELECT min(first_offset)
            FROM lease
            WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND lease.partition = latest.partition
                AND NOT redriven
        ),
        (
            SELECT position
            FROM cursor
            WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND cursor.partition = latest.partition
        )
    ) AS unsettled
FROM latest
