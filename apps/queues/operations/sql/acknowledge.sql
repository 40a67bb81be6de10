-- does: removes an event whose lease is still held, remembers the token, and lets the next of its group key come forward
-- locks: the event and the next of its key (the key itself was locked by the statement before)
-- index: queue_event primary key, queue_event_group, queue_key primary key
WITH gone AS (
    DELETE FROM queue_event
    WHERE queue_id = %(queue)s AND id = %(id)s AND state = 'leased' AND lease_token = %(token)s
        AND due_at > statement_timestamp()
    RETURNING group_key, idempotency_key
), settled AS (
    INSERT INTO queue_settled (queue_id, id, token, outcome, at)
    SELECT %(queue)s, %(id)s, %(token)s, 'acked', statement_timestamp() FROM gone
), freed AS (
    UPDATE queue_key SET free_at = statement_timestamp() + interval '24 hours'
    WHERE queue_id = %(queue)s AND idempotency_key = (SELECT gone.idempotency_key FROM gone) AND event_id = %(id)s
), next AS (
    UPDATE queue_event AS follower SET
        state = CASE WHEN follower.scheduled_at > statement_timestamp() THEN 'waiting' ELSE 'ready' END,
        due_at = CASE WHEN follower.scheduled_at > statement_timestamp() THEN follower.scheduled_at END
    WHERE follower.queue_id = %(queue)s AND follower.id = (
        SELECT blocked.id FROM queue_event AS blocked
        WHERE blocked.queue_id = %(queue)s AND blocked.group_key = (SELECT gone.group_key FROM gone)
            AND blocked.state = 'blocked' AND blocked.state <> 'dead'
        ORDER BY blocked.n LIMIT 1
    )
    RETURNING follower.id
)
SELECT (SELECT count(*) FROM gone) AS gone, (SELECT count(*) FROM next) AS released
