-- does: leases new events of one partition, unless the worker has a lease, one waits for redelivery, or something holds the consumer back
-- locks: nothing more: runs under the consumer's lock (lock_consumer)
-- index: lease_visible, lease_first, cursor_pkey, event_pkey
WITH load AS (
    SELECT
        coalesce(sum(events) FILTER (WHERE state = 'leased' AND visible_at > statement_timestamp()), 0) AS leased,
        coalesce(sum(events), 0) AS unsettled,
        min(visible_at) FILTER (WHERE state = 'leased' AND visible_at > statement_timestamp()) AS next_end,
        count(*) FILTER (WHERE state = 'leased' AND visible_at > statement_timestamp() AND worker = %(worker)s) AS own,
        count(*) FILTER (WHERE visible_at <= statement_timestamp()) AS due
    FROM lease
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
),
asker AS (
    SELECT
        window_size, max_unsettled, type_patterns, subject_prefix, source_prefix, has_skipped, resume_at,
        leased, unsettled, next_end, own, due, ordering = 'partition' AS in_order,
        disabled_at IS NOT NULL
        OR (paused_at IS NOT NULL AND (resume_at IS NULL OR resume_at > statement_timestamp())) AS paused,
        type_patterns IS NULL AND subject_prefix IS NULL AND source_prefix IS NULL AS takes_all,
        least(%(limit)s, window_size - leased, max_unsettled - unsettled) AS room
    FROM consumer CROSS JOIN load
    WHERE topic_id = %(topic_id)s AND id = %(consumer_id)s
),
-- Least recently served first, read one by one until a partition has something: the order must be made below the heads.
heads AS (
    SELECT
        partition, position, served_at,
        coalesce(
            (
                SELECT max("offset") + 1
                FROM event
                WHERE topic_id = %(topic_id)s AND event.partition = turn.partition AND "offset" >= position
            ),
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
    SELECT partition, position, room AS size, CASE WHEN takes_all THEN room + 1 ELSE %(slice)s END AS slice
    FROM heads CROSS JOIN asker
    WHERE position < head AND NOT paused AND room > 0 AND own = 0 AND (due = 0 OR %(pass_over_due)s)
        AND NOT (in_order AND EXISTS (
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
            AND (source_prefix IS NULL OR starts_with(
                coalesce(source, '/v1/topics/' || (SELECT name FROM topic WHERE id = %(topic_id)s)), source_prefix
            ))
        ) AS wanted
    FROM bodies CROSS JOIN asker
    WINDOW ascending AS (ORDER BY "offset")
),
counted AS (
    SELECT
        "offset", position, wanted,
        wanted AND count(*) FILTER (WHERE wanted) OVER ascending <= size
        AND (sum(bytes) FILTER (WHERE wanted) OVER ascending <= %(max_bytes)s
            OR count(*) FILTER (WHERE wanted) OVER ascending = 1) AS fits
    FROM scanned CROSS JOIN source
    WHERE gapless AND "offset" >= position
    WINDOW ascending AS (ORDER BY "offset" ROWS UNBOUNDED PRECEDING)
),
batch AS (
    SELECT
        min("offset") AS start,
        count(*) FILTER (WHERE fits) AS events,
        min("offset") FILTER (WHERE fits) AS first_offset,
        max("offset") FILTER (WHERE fits) + 1 AS next_offset,
        array_agg("offset") FILTER (WHERE fits) AS offsets,
        coalesce(min("offset") FILTER (WHERE wanted AND NOT fits), max("offset") + 1) AS upto
    FROM counted
),
moved AS (
    UPDATE cursor
    SET position = upto, served_at = statement_timestamp(), jumped = jumped + upto - source.position - events
    FROM source CROSS JOIN batch
    WHERE cursor.topic_id = %(topic_id)s AND cursor.consumer_id = %(consumer_id)s AND cursor.partition = source.partition
        AND cursor.position = source.position AND batch.start = source.position
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
    RETURNING id, partition, first_offset, next_offset, picked, generation, attempt, visible_at
)
SELECT
    paused, extract(epoch FROM resume_at - statement_timestamp())::float8 AS resume_in,
    NOT paused AND (own > 0 OR (due > 0 AND leased < window_size)) AS has_older,
    leased, unsettled, window_size, max_unsettled,
    extract(epoch FROM next_end - statement_timestamp())::float8 AS next_end_in,
    EXISTS (SELECT FROM source) AS behind, EXISTS (SELECT FROM moved) AS moved, has_skipped,
    (SELECT partition FROM source) AS at_partition, (SELECT position FROM source) AS at_position,
    (SELECT slice FROM source) AS slice,
    id, partition, first_offset, next_offset, picked, generation, attempt, visible_at
FROM asker LEFT JOIN created ON true
