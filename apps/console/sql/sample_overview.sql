-- does: keeps one row for each 15 s of the clock with the sums over all destinations, queues and topics, from their own samples
-- locks: the row it inserts
-- index: none for destination, queue, topic_partition and channel_live, which are read whole; lag_sample_pkey, queue_sample_pkey, event_pkey
INSERT INTO overview_sample (
    at, appended, settled, lag_events, in_flight, waiting, queued, queued_dead, connections
)
SELECT
    date_bin('15 seconds', statement_timestamp(), timestamptz '1970-01-01 00:00:00+00'),
    written.appended, read.settled, read.lag_events, read.in_flight, read.waiting, queues.queued, queues.dead, live.connections
FROM (
    SELECT coalesce(sum(coalesce((
        SELECT e."offset" + 1 FROM event AS e WHERE e.topic_id = p.topic_id AND e.partition = p.partition
        ORDER BY e."offset" DESC LIMIT 1
    ), p.hot_offset)), 0) AS appended
    FROM topic_partition AS p
) AS written
CROSS JOIN (
    SELECT coalesce(sum(s.settled), 0) AS settled, coalesce(sum(s.lag_events), 0) AS lag_events,
        coalesce(sum(s.in_flight), 0) AS in_flight, coalesce(sum(s.waiting), 0) AS waiting
    FROM destination AS d
    CROSS JOIN LATERAL (
        SELECT settled, lag_events, in_flight, waiting
        FROM lag_sample
        WHERE topic_id = d.topic_id AND consumer_id = d.consumer_id
            AND at >= statement_timestamp() - interval '5 minutes'
        ORDER BY at DESC
        LIMIT 1
    ) AS s
) AS read
CROSS JOIN (
    SELECT coalesce(sum(s.held), 0) AS queued, coalesce(sum(s.dead), 0) AS dead
    FROM queue AS q
    CROSS JOIN LATERAL (
        SELECT ready + scheduled + in_flight + blocked AS held, dead
        FROM queue_sample
        WHERE queue_id = q.id AND at >= statement_timestamp() - interval '5 minutes'
        ORDER BY at DESC
        LIMIT 1
    ) AS s
    WHERE q.deleted_at IS NULL
) AS queues
CROSS JOIN (
    SELECT coalesce(sum(connections), 0) AS connections
    FROM channel_live
    WHERE seen_at > statement_timestamp() - interval '25 seconds'
) AS live
ON CONFLICT (at) DO NOTHING
RETURNING at
