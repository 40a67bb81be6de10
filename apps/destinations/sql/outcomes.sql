-- does: of each asked consumer its dead letters and late workers (both up to a bound), and the last acknowledgement of its latest leases
-- locks: nothing
-- index: dead_letter_fingerprint, settled_pkey, worker_seen_last
SELECT asked.topic_id, asked.id, dead.number, latest.acknowledged_at, came.number
FROM unnest(%(topics)b::integer[], %(consumers)b::integer[]) AS asked (topic_id, id)
CROSS JOIN LATERAL (
    SELECT count(*) AS number
    FROM (
        SELECT 1
        FROM dead_letter AS d
        WHERE d.topic_id = asked.topic_id AND d.consumer_id = asked.id AND d.state = 'dead'
        LIMIT %(most)s
    ) AS few
) AS dead
CROSS JOIN LATERAL (
    SELECT max(few.at) FILTER (WHERE few.outcome = 'ok') AS acknowledged_at
    FROM (
        -- By id, the order of handing out: by time there is no index, and a busy consumer has millions of these rows.
        SELECT s.at, s.outcome
        FROM settled AS s
        WHERE s.topic_id = asked.topic_id AND s.consumer_id = asked.id
            AND s.at >= statement_timestamp() - interval '2 days'
        ORDER BY s.id DESC
        LIMIT %(latest)s
    ) AS few
) AS latest
CROSS JOIN LATERAL (
    SELECT count(*) AS number
    FROM (
        SELECT 1
        FROM worker_seen AS w
        WHERE w.topic_id = asked.topic_id AND w.consumer_id = asked.id
            AND w.seen_at >= statement_timestamp() - interval '15 minutes'
        LIMIT %(most)s
    ) AS few
) AS came
