-- does: gives a worker its own lease again, else the longest redeliverable one, else new events of one partition, or says what holds it back
-- locks: the lease it redelivers, passing over those being settled; runs under the consumer's lock (lock_consumer)
-- index: lease_visible, lease_worker, lease_first, cursor_pkey, event_pkey
WITH load AS (
    SELECT
        coalesce(sum(events) FILTER (WHERE state = 'leased' AND visible_at > statement_timestamp()), 0) AS leased,
        coalesce(sum(events), 0) AS unsettled,
        min(visible_at) FILTER (WHERE state = 'leased' AND visible_at > statement_timestamp()) AS next_end
    FROM lease
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
),
asker AS (
    SELECT
        window_size, max_unsettled, ordering, type_patterns, subject_prefix, source_prefix, has_skipped, resume_at,
        leased, unsettled, next_end,
        disabled_at IS NOT NULL
        OR (paused_at IS NOT NULL AND (resume_at IS NULL OR resume_at > statement_timestamp())) AS paused,
        type_patterns IS NULL AND subject_prefix IS NULL AND source_prefix IS NULL AS takes_all,
        least(%(limit)s, window_size - leased) AS room,
        least(%(limit)s, window_size - leased, max_unsettled - unsettled) AS room_for_new
    FROM consumer CROSS JOIN load
    WHERE topic_id = %(topic_id)s AND id = %(consumer_id)s
),
-- A worker may hold two, after extending an expired one: the last handed out is the one it means.
renewed AS (
    UPDATE lease
    SET visible_at = statement_timestamp() + %(visibility)s * interval '1 second',
        handed_at = statement_timestamp(),
        handouts = handouts + 1
    FROM asker
    WHERE lease.topic_id = %(topic_id)s AND lease.consumer_id = %(consumer_id)s AND NOT paused
        AND lease.id = (
            SELECT held.id
            FROM lease AS held
            WHERE held.topic_id = %(topic_id)s AND held.consumer_id = %(consumer_id)s AND held.worker = %(worker)s
                AND held.state = 'leased' AND held.visible_at > statement_timestamp()
            ORDER BY held.handed_at DESC, held.id
            LIMIT 1
        )
    RETURNING 'own' AS origin, id, partition, first_offset, next_offset, picked, generation, attempt, visible_at
),
due AS (
    SELECT id, first_offset, events, picked, least(events, room) AS taken
    FROM lease CROSS JOIN asker
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND visible_at <= statement_timestamp()
        AND NOT paused AND room > 0 AND NOT EXISTS (SELECT FROM renewed)
        AND (ordering = 'none' OR NOT EXISTS (
            SELECT FROM lease AS earlier
            WHERE earlier.topic_id = %(topic_id)s AND earlier.consumer_id = %(consumer_id)s
                AND earlier.partition = lease.partition AND earlier.first_offset < lease.first_offset
        ))
    ORDER BY visible_at, first_offset
    LIMIT 1
    FOR UPDATE OF lease SKIP LOCKED
),
-- What is over the limit or the window stays behind as a lease of its own, due since the same moment.
rest AS (
    INSERT INTO lease (
        topic_id, consumer_id, id, partition, redriven, first_offset, next_offset, events, generation, attempt, handouts,
        leased_at, handed_at, visible_at, state, worker, error, picked
    )
    SELECT
        topic_id, consumer_id, %(lease_id)s, partition, redriven, lease.first_offset + coalesce(lease.picked[taken + 1], taken),
        next_offset, lease.events - taken, generation, attempt, handouts,
        leased_at, handed_at, visible_at, 'waiting', worker, error,
        (SELECT array_agg(step - lease.picked[taken + 1] ORDER BY step) FROM unnest(lease.picked[taken + 1:]) AS step)
    FROM lease JOIN due USING (id)
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND taken < due.events
),
redelivered AS (
    UPDATE lease
    SET next_offset = lease.first_offset + coalesce(lease.picked[taken], taken - 1) + 1,
        picked = lease.picked[1:taken],
        events = taken,
        generation = generation + 1,
        attempt = attempt + 1,
        handouts = handouts + 1,
        worker = %(worker)s,
        state = 'leased',
        handed_at = statement_timestamp(),
        visible_at = statement_timestamp() + %(visibility)s * interval '1 second'
    FROM due
    WHERE lease.topic_id = %(topic_id)s AND lease.consumer_id = %(consumer_id)s AND lease.id = due.id
    RETURNING
        'redelivery' AS origin, lease.id, partition, lease.first_offset, next_offset, lease.picked, generation, attempt,
        visible_at
),
-- Least recently served first, read one by one until a partition has something: the order must be made below the heads.
heads AS (
    SELECT
        partition, position, served_at,
        coalesce(
            (SELECT max("offset") + 1 FROM event WHERE topic_id = %(topic_id)s AND event.partition = turn.partition),
            (SELECT hot_offset FROM topic_partition WHERE topic_id = %(topic_id)s AND partition = turn.partition)
        ) AS head
    FROM (
        SELECT partition, position, served_at
        FROM cursor
        WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
        ORDER BY served_at, partition
        OFFSET 0
    ) AS turn
),
source AS (
    SELECT
        partition, position, room_for_new AS size, CASE WHEN takes_all THEN room_for_new + 1 ELSE %(slice)s END AS slice
    FROM heads CROSS JOIN asker
    WHERE position < head
        AND NOT paused AND room_for_new > 0 AND NOT EXISTS (SELECT FROM renewed) AND NOT EXISTS (SELECT FROM due)
        AND (ordering = 'none' OR NOT EXISTS (
            SELECT FROM lease
            WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND lease.partition = heads.partition
        ))
    ORDER BY served_at, partition
    LIMIT 1
),
-- The event before the position comes along when it is there: the size of an event is the difference to the one before.
bodies AS (
    SELECT hot."offset", hot.total_bytes, hot.kind, hot.type, hot.source, hot.subject, hot.partition_key
    FROM source CROSS JOIN LATERAL (
        SELECT "offset", total_bytes, kind, type, event.source, subject, partition_key
        FROM event
        WHERE topic_id = %(topic_id)s AND event.partition = source.partition AND "offset" >= source.position - 1
        ORDER BY "offset"
        LIMIT source.slice
    ) AS hot
    UNION ALL
    SELECT cold."offset", cold.total_bytes, cold.kind, cold.type, cold.source, cold.subject, cold.partition_key
    FROM source JOIN unnest(
        %(cold_offsets)b::bigint[], %(cold_totals)b::bigint[], %(cold_kinds)b::smallint[], %(cold_types)b::text[],
        %(cold_sources)b::text[], %(cold_subjects)b::text[], %(cold_keys)b::text[]
    ) AS cold ("offset", total_bytes, kind, type, source, subject, partition_key)
        ON source.partition = %(cold_partition)s AND cold."offset" >= source.position - 1
),
scanned AS (
    SELECT
        "offset",
        total_bytes - lag(total_bytes, 1, CASE "offset" WHEN 0 THEN 0 ELSE total_bytes - %(max_event_bytes)s END)
            OVER ascending AS bytes,
        "offset" - row_number() OVER ascending + 1 = first_value("offset") OVER ascending AS gapless,
        takes_all OR (
            (type_patterns IS NULL OR coalesce(type, 'towpath.record') LIKE ANY (type_patterns))
            AND (subject_prefix IS NULL
                OR starts_with(CASE kind WHEN 0 THEN partition_key ELSE subject END, subject_prefix))
            AND (source_prefix IS NULL
                OR starts_with(coalesce(source, '/v1/topics/' || (SELECT name FROM topic WHERE id = %(topic_id)s)), source_prefix))
        ) AS wanted
    FROM bodies CROSS JOIN asker
    WINDOW ascending AS (ORDER BY "offset")
),
wanted AS (
    SELECT
        "offset",
        row_number() OVER ascending <= size
        AND (row_number() OVER ascending = 1 OR sum(bytes) OVER ascending <= %(max_bytes)s) AS fits
    FROM scanned CROSS JOIN source
    WHERE gapless AND scanned.wanted AND "offset" >= position
    WINDOW ascending AS (ORDER BY "offset")
),
batch AS (
    SELECT
        count(*) FILTER (WHERE fits) AS events,
        min("offset") FILTER (WHERE fits) AS first_offset,
        max("offset") FILTER (WHERE fits) + 1 AS next_offset,
        array_agg("offset" ORDER BY "offset") FILTER (WHERE fits) AS offsets,
        coalesce(
            min("offset") FILTER (WHERE NOT fits),
            (SELECT max("offset") + 1 FROM scanned CROSS JOIN source WHERE gapless AND "offset" >= position)
        ) AS upto
    FROM wanted
),
moved AS (
    UPDATE cursor
    SET position = upto, served_at = statement_timestamp()
    FROM source CROSS JOIN batch
    WHERE cursor.topic_id = %(topic_id)s AND cursor.consumer_id = %(consumer_id)s AND cursor.partition = source.partition
        AND cursor.position = source.position AND upto > source.position
    RETURNING cursor.partition
),
created AS (
    INSERT INTO lease (
        topic_id, consumer_id, id, partition, first_offset, next_offset, events, generation, attempt, handouts,
        leased_at, handed_at, visible_at, state, worker, picked
    )
    SELECT
        %(topic_id)s, %(consumer_id)s, %(lease_id)s, partition, first_offset, next_offset, events, 0, 1, 1,
        statement_timestamp(), statement_timestamp(), statement_timestamp() + %(visibility)s * interval '1 second',
        'leased', %(worker)s,
        CASE WHEN next_offset - first_offset > events
            THEN (SELECT array_agg(taken - first_offset ORDER BY taken) FROM unnest(offsets) AS taken) END
    FROM moved CROSS JOIN batch
    WHERE events > 0
    RETURNING 'new' AS origin, id, partition, first_offset, next_offset, picked, generation, attempt, visible_at
)
SELECT
    paused, extract(epoch FROM resume_at - statement_timestamp())::float8 AS resume_in,
    leased::bigint, unsettled::bigint, window_size, max_unsettled,
    extract(epoch FROM next_end - statement_timestamp())::float8 AS next_end_in,
    has_skipped, EXISTS (SELECT FROM source) AS behind, EXISTS (SELECT FROM moved) AS moved,
    origin, handed.id, handed.partition, first_offset, next_offset, picked, generation, attempt, visible_at
FROM asker
LEFT JOIN (
    SELECT origin, id, partition, first_offset, next_offset, picked, generation, attempt, visible_at FROM renewed
    UNION ALL
    SELECT origin, id, partition, first_offset, next_offset, picked, generation, attempt, visible_at FROM redelivered
    UNION ALL
    SELECT origin, id, partition, first_offset, next_offset, picked, generation, attempt, visible_at FROM created
) AS handed ON true
