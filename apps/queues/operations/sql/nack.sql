-- does: gives back an event whose lease is still held, for later or for good, and remembers the token
-- locks: the event and, when it died, the next of its group key (the key itself was locked by the statement before)
-- index: queue primary key, queue_event primary key, queue_event_group
WITH given_back AS (
    UPDATE queue_event AS event SET
        state = CASE WHEN event.attempts >= queue.max_attempts THEN 'dead' WHEN wait.seconds > 0 THEN 'waiting' ELSE 'ready' END,
        due_at = CASE WHEN event.attempts < queue.max_attempts AND wait.seconds > 0
            THEN statement_timestamp() + wait.seconds * interval '1 second' END,
        died_at = CASE WHEN event.attempts >= queue.max_attempts THEN statement_timestamp() END,
        lease_token = NULL, leased_by = NULL, error = coalesce(%(error)s, event.error)
    FROM queue_event AS before JOIN queue ON queue.id = before.queue_id, LATERAL (
        SELECT coalesce(%(delay)s::float8, least(
            queue.retry_max_seconds, queue.retry_first_seconds * 2.0 ^ least(before.attempts - 1, 30)
        ) * %(jitter)s::float8) AS seconds
    ) AS wait
    WHERE before.queue_id = %(queue)s AND before.id = %(id)s AND queue.id = %(queue)s
        AND event.queue_id = %(queue)s AND event.id = %(id)s
        AND event.state = 'leased' AND event.lease_token = %(token)s AND event.due_at > statement_timestamp()
    RETURNING event.state, event.due_at, event.group_key
), settled AS (
    INSERT INTO queue_settled (queue_id, id, token, outcome, scheduled_at, at)
    SELECT %(queue)s, %(id)s, %(token)s, CASE WHEN given_back.state = 'dead' THEN 'dead' ELSE 'waiting' END,
        CASE WHEN given_back.state <> 'dead' THEN coalesce(given_back.due_at, statement_timestamp()) END,
        statement_timestamp()
    FROM given_back
    RETURNING outcome, scheduled_at
), next AS (
    UPDATE queue_event AS follower SET
        state = CASE WHEN follower.scheduled_at > statement_timestamp() THEN 'waiting' ELSE 'ready' END,
        due_at = CASE WHEN follower.scheduled_at > statement_timestamp() THEN follower.scheduled_at END
    WHERE follower.queue_id = %(queue)s AND follower.id = (
        SELECT blocked.id FROM queue_event AS blocked
        WHERE blocked.queue_id = %(queue)s
            AND blocked.group_key = (SELECT given_back.group_key FROM given_back WHERE given_back.state = 'dead')
            AND blocked.state = 'blocked' AND blocked.state <> 'dead'
        ORDER BY blocked.n LIMIT 1
    )
)
SELECT settled.outcome, settled.scheduled_at FROM settled
