-- does: counts what a queue holds, each state up to a limit, and what was settled since the last sample
-- locks: nothing but the new row
-- index: queue_event_ready, queue_event_due, queue_event_group, queue_event_dead, queue_settled (queue_id, at), queue_sample primary key
INSERT INTO queue_sample (queue_id, at, ready, scheduled, in_flight, blocked, dead, exact, oldest_at, settled)
SELECT %(queue)s, statement_timestamp(), counted.ready, counted.scheduled, counted.in_flight, counted.blocked, counted.dead,
    greatest(counted.ready, counted.scheduled + counted.in_flight, counted.blocked, counted.dead) < %(most)s,
    counted.oldest_at, counted.settled
FROM (SELECT
    (SELECT count(*) FROM (
        SELECT 1 FROM queue_event WHERE queue_id = %(queue)s AND state = 'ready' LIMIT %(most)s) AS bounded) AS ready,
    due.scheduled, due.in_flight,
    (SELECT count(*) FROM (
        SELECT 1 FROM queue_event
        WHERE queue_id = %(queue)s AND group_key IS NOT NULL AND state = 'blocked' AND state <> 'dead' LIMIT %(most)s
    ) AS bounded) AS blocked,
    (SELECT count(*) FROM (
        SELECT 1 FROM queue_event WHERE queue_id = %(queue)s AND state = 'dead' LIMIT %(most)s) AS bounded) AS dead,
    (SELECT min(head.scheduled_at) FROM (
        SELECT scheduled_at FROM queue_event WHERE queue_id = %(queue)s AND state = 'ready'
        ORDER BY priority DESC, scheduled_at, n LIMIT %(most)s) AS head) AS oldest_at,
    (SELECT count(*) FROM queue_settled
        WHERE queue_id = %(queue)s AND outcome = 'acked' AND at > coalesce(%(since)s, statement_timestamp())) AS settled
    FROM (SELECT
        count(*) FILTER (WHERE bounded.state = 'waiting') AS scheduled,
        count(*) FILTER (WHERE bounded.state = 'leased') AS in_flight
        FROM (
            SELECT state FROM queue_event
            WHERE queue_id = %(queue)s AND state IN ('leased', 'waiting') ORDER BY due_at LIMIT %(most)s
        ) AS bounded) AS due
) AS counted
ON CONFLICT DO NOTHING
