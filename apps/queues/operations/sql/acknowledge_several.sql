-- does: as acknowledge, for each of several events whose lease is still held; answers which
-- locks: those events by id, their idempotency keys by key, and the next of each group key (locked by the statement before)
-- index: queue_event primary key, queue_event_group, queue_key primary key
WITH held AS (
    SELECT event.id FROM unnest(%(ids)b::uuid[], %(tokens)b::uuid[]) AS given (id, token)
    JOIN queue_event AS event ON event.queue_id = %(queue)s AND event.id = given.id
    WHERE event.state = 'leased' AND event.lease_token = given.token AND event.due_at > statement_timestamp()
    ORDER BY event.id FOR UPDATE OF event
), gone AS (
    DELETE FROM queue_event AS event
    WHERE event.queue_id = %(queue)s AND event.id = ANY (ARRAY(SELECT held.id FROM held))
    RETURNING event.id, event.lease_token, event.group_key, event.idempotency_key
), settled AS (
    INSERT INTO queue_settled (queue_id, id, token, outcome, at)
    SELECT %(queue)s, gone.id, gone.lease_token, 'acked', statement_timestamp() FROM gone
), taken AS (
    SELECT known.idempotency_key FROM gone
    JOIN queue_key AS known ON known.queue_id = %(queue)s AND known.idempotency_key = gone.idempotency_key
        AND known.event_id = gone.id
    ORDER BY known.idempotency_key FOR UPDATE OF known
), freed AS (
    UPDATE queue_key AS known SET free_at = statement_timestamp() + interval '24 hours'
    WHERE known.queue_id = %(queue)s AND known.idempotency_key = ANY (ARRAY(SELECT taken.idempotency_key FROM taken))
), next AS (
    UPDATE queue_event AS follower SET
        state = CASE WHEN follower.scheduled_at > statement_timestamp() THEN 'waiting' ELSE 'ready' END,
        due_at = CASE WHEN follower.scheduled_at > statement_timestamp() THEN follower.scheduled_at END
    WHERE follower.queue_id = %(queue)s AND follower.id = ANY (ARRAY(
        SELECT first.id FROM gone CROSS JOIN LATERAL (
            SELECT blocked.id FROM queue_event AS blocked
            WHERE blocked.queue_id = %(queue)s AND blocked.group_key = gone.group_key
                AND blocked.state = 'blocked' AND blocked.state <> 'dead'
            ORDER BY blocked.n LIMIT 1
        ) AS first
    ))
    RETURNING follower.id
)
SELECT gone.id, gone.lease_token, (SELECT count(*) FROM next) AS released FROM gone
