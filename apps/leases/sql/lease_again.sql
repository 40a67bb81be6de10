-- does: gives a worker its own lease again (its clock starts anew), else the longest redeliverable one, cut to what fits; names a spent one
-- locks: the lease it hands out, passing over those being settled; runs under the consumer's lock, after lock_own
-- index: lease_visible, lease_first, lease_pkey
WITH load AS (
    SELECT sum(events) AS leased
    FROM lease
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
        AND state = 'leased' AND visible_at > statement_timestamp()
),
asker AS (
    SELECT ordering = 'partition' AS in_order, max_deliveries, least(%(limit)s, window_size - coalesce(leased, 0)) AS room
    FROM consumer CROSS JOIN load
    WHERE topic_id = %(topic_id)s AND id = %(consumer_id)s AND disabled_at IS NULL
        AND (paused_at IS NULL OR resume_at <= statement_timestamp())
),
-- A worker may hold two, after extending an expired one: the last handed out is the one it means.
own AS (
    SELECT id, max_deliveries > 0 AND handouts >= max_deliveries AS spent
    FROM lease CROSS JOIN asker
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND worker = %(worker)s
        AND state = 'leased' AND visible_at > statement_timestamp()
    ORDER BY handed_at DESC, id
    LIMIT 1
),
renewed AS (
    UPDATE lease
    SET visible_at = statement_timestamp() + %(visibility)s * interval '1 second',
        handed_at = statement_timestamp(),
        handouts = handouts + 1
    FROM own
    WHERE NOT spent AND topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND lease.id = own.id
    RETURNING lease.id, partition, first_offset, next_offset, picked, generation, attempt, visible_at, redriven
),
due AS (
    SELECT
        id, events, least(events, room) AS taken, max_deliveries > 0 AND handouts >= max_deliveries AS spent
    FROM lease CROSS JOIN asker
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND visible_at <= statement_timestamp()
        AND room > 0 AND NOT EXISTS (SELECT FROM own)
        AND NOT (in_order AND EXISTS (
            SELECT FROM lease AS earlier
            WHERE earlier.topic_id = %(topic_id)s AND earlier.consumer_id = %(consumer_id)s
                AND earlier.partition = lease.partition AND earlier.first_offset < lease.first_offset
        ))
    ORDER BY visible_at, first_offset
    LIMIT 1
    FOR NO KEY UPDATE OF lease SKIP LOCKED
),
-- What is over the limit or the window stays behind as a lease of its own, due since the same moment.
rest AS (
    INSERT INTO lease (
        topic_id, consumer_id, id, partition, redriven, first_offset, next_offset, events, generation, attempt, handouts,
        leased_at, handed_at, visible_at, state, worker, error, picked
    )
    SELECT
        topic_id, consumer_id, %(lease_id)s, partition, redriven, first_offset + coalesce(picked[taken + 1], taken),
        next_offset, lease.events - taken, generation, attempt, handouts,
        leased_at, handed_at, visible_at, 'waiting', worker, error,
        (SELECT array_agg(step - picked[taken + 1] ORDER BY step) FROM unnest(picked[taken + 1:]) AS step)
    FROM lease JOIN due USING (id)
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND taken < due.events AND NOT spent
),
redelivered AS (
    UPDATE lease
    SET next_offset = first_offset + coalesce(picked[taken], taken - 1) + 1,
        picked = picked[1:taken],
        events = taken,
        generation = generation + 1,
        attempt = attempt + 1,
        handouts = handouts + 1,
        worker = %(worker)s,
        state = 'leased',
        handed_at = statement_timestamp(),
        visible_at = statement_timestamp() + %(visibility)s * interval '1 second'
    FROM due
    WHERE NOT spent AND topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND lease.id = due.id
    RETURNING lease.id, partition, first_offset, next_offset, picked, generation, attempt, visible_at, redriven
),
handed AS (
    SELECT CASE WHEN redriven THEN 'redriven' ELSE 'own' END AS origin,
        id, partition, first_offset, next_offset, picked, generation, attempt, visible_at
    FROM renewed
    UNION ALL
    SELECT CASE WHEN redriven THEN 'redriven' ELSE 'redelivery' END,
        id, partition, first_offset, next_offset, picked, generation, attempt, visible_at
    FROM redelivered
    UNION ALL
    SELECT 'spent', lease.id, partition, first_offset, next_offset, picked, generation, attempt, visible_at
    FROM lease JOIN (SELECT id, spent FROM own UNION ALL SELECT id, spent FROM due) AS chosen USING (id)
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND spent
)
SELECT has_skipped, origin, handed.id, partition, first_offset, next_offset, picked, generation, attempt, visible_at
FROM handed JOIN consumer ON topic_id = %(topic_id)s AND consumer.id = %(consumer_id)s
