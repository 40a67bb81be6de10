-- does: one row a partition of each asked consumer: settings, head, position, leases and the first unsettled event, in one snapshot
-- locks: nothing
-- index: consumer_pkey, cursor_pkey, topic_partition_pkey, event_pkey, segment_pkey, topic_pkey, lease_first, worker_seen_last
SELECT
    c.topic_id, c.id, c.window_size, c.max_unsettled, c.ordering,
    num_nonnulls(c.types, c.subject_prefix, c.source_prefix) > 0 AS filtered,
    c.paused_at, c.pause_reason, c.paused_by, c.resume_at,
    c.paused_at IS NOT NULL AND (c.resume_at IS NULL OR c.resume_at > statement_timestamp()) AS paused,
    c.disabled_at, c.disabled_reason, c.created_at, seen.at AS seen_at, seen.since AS seen_since,
    statement_timestamp() AS as_of,
    push.held_code, push.held_text, push.held_since,
    k.partition, p.oldest_offset, k.position, nullif(k.served_at, '-infinity') AS served_at, log.head,
    first.unsettled,
    extract(epoch FROM statement_timestamp() - appended.at)::double precision AS age,
    extract(epoch FROM statement_timestamp() - appended.goes_by)::double precision AS goes_by_age,
    (
        SELECT t.cold_seconds + CASE t.on_lag WHEN 'protect' THEN t.protect_seconds ELSE 0 END
        FROM topic AS t
        WHERE t.id = asked.topic_id
    )::double precision AS retained_seconds,
    held.in_flight, held.waiting, held.spanned, k.position - k.jumped - held.unsettled AS settled, held.handed_at,
    oldest.id, oldest.worker, oldest.generation, oldest.attempt, oldest.state, oldest.leased_at, oldest.visible_at
FROM unnest(%(topics)b::integer[], %(consumers)b::integer[]) AS asked (topic_id, id)
JOIN consumer AS c ON c.topic_id = asked.topic_id AND c.id = asked.id
LEFT JOIN LATERAL (
    SELECT s.held_code, s.held_text, s.held_since
    FROM destination AS d JOIN push_state AS s ON s.destination_id = d.id
    WHERE d.topic_id = asked.topic_id AND d.consumer_id = asked.id
) AS push ON true
CROSS JOIN LATERAL (
    SELECT topic_id, consumer_id, partition, position, jumped, served_at
    FROM cursor
    WHERE topic_id = asked.topic_id AND consumer_id = asked.id
    OFFSET 0 -- by its key whatever the statistics say: this plan is kept for as long as the connection
) AS k
CROSS JOIN LATERAL (
    SELECT t.oldest_offset, t.hot_offset FROM topic_partition AS t
    WHERE t.topic_id = asked.topic_id AND t.partition = k.partition
    LIMIT 1
) AS p
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT e."offset" + 1 FROM event AS e WHERE e.topic_id = k.topic_id AND e.partition = k.partition
        ORDER BY e."offset" DESC LIMIT 1
    ), p.hot_offset) AS head
    OFFSET 0 -- else it is looked up once for each place that names it
) AS log
CROSS JOIN LATERAL (
    SELECT
        (SELECT max(w.seen_at) FROM worker_seen AS w WHERE w.topic_id = asked.topic_id AND w.consumer_id = asked.id) AS at,
        (
            SELECT min(w.seen_since) FROM worker_seen AS w
            WHERE w.topic_id = asked.topic_id AND w.consumer_id = asked.id
                AND w.seen_at > statement_timestamp() - interval '60 seconds'
        ) AS since
) AS seen
CROSS JOIN LATERAL (
    SELECT
        coalesce(sum(l.events) FILTER (WHERE l.state = 'leased' AND l.visible_at > statement_timestamp()), 0)::integer AS in_flight,
        coalesce(sum(l.events) FILTER (WHERE l.state <> 'leased' OR l.visible_at <= statement_timestamp()), 0)::integer AS waiting,
        coalesce(sum(l.next_offset - l.first_offset) FILTER (WHERE NOT l.redriven), 0)::bigint AS spanned,
        coalesce(sum(l.events) FILTER (WHERE NOT l.redriven), 0)::bigint AS unsettled,
        max(l.handed_at) AS handed_at
    FROM lease AS l
    -- By what is asked: by the cursor's columns the planner would sum up everybody's leases before it joins what is wanted.
    WHERE l.topic_id = asked.topic_id AND l.consumer_id = asked.id AND l.partition = k.partition
) AS held
LEFT JOIN LATERAL (
    SELECT l.id, l.worker, l.generation, l.attempt, l.state, l.first_offset, l.leased_at, l.visible_at
    FROM lease AS l
    WHERE l.topic_id = asked.topic_id AND l.consumer_id = asked.id AND l.partition = k.partition AND NOT l.redriven
    ORDER BY l.first_offset LIMIT 1
) AS oldest ON true
CROSS JOIN LATERAL (SELECT coalesce(oldest.first_offset, k.position) AS unsettled) AS first
LEFT JOIN LATERAL (
    SELECT hot.appended_at AS at, hot.appended_at AS goes_by
    FROM (
        SELECT e.appended_at FROM event AS e
        WHERE e.topic_id = k.topic_id AND e.partition = k.partition
            AND e."offset" >= first.unsettled
        ORDER BY e."offset" LIMIT 1
    ) AS hot
    WHERE first.unsettled >= p.hot_offset AND first.unsettled < log.head
    UNION ALL
    -- The time of a cold event is in the store only: between the first and the last of its segment, as far as its offset is.
    SELECT
        cold.first_at + (cold.last_at - cold.first_at) * (
            (first.unsettled - cold.first_offset)::double precision
            / greatest(1, cold.last_offset - cold.first_offset)
        ),
        cold.last_at
    FROM (
        SELECT s.first_at, s.last_at, s.first_offset, s.last_offset FROM segment AS s
        WHERE s.topic_id = k.topic_id AND s.partition = k.partition
            AND s.first_offset <= first.unsettled
            AND s.last_offset >= first.unsettled
        ORDER BY s.first_offset DESC LIMIT 1
    ) AS cold
    WHERE first.unsettled < p.hot_offset AND first.unsettled < log.head
) AS appended ON true
ORDER BY c.topic_id, c.id, k.partition
