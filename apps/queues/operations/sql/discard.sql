-- does: removes events in one of the given states; the key of each stays taken for a day
-- locks: those events (their group keys were locked by the statement before)
-- index: queue_event primary key, queue_key primary key
WITH gone AS (
    DELETE FROM queue_event
    WHERE queue_id = %(queue)s AND id = ANY (%(ids)b::uuid[]) AND state = ANY (%(states)b::text[])
    RETURNING id, group_key, idempotency_key, lease_token
), freed AS (
    UPDATE queue_key AS taken SET free_at = statement_timestamp() + interval '24 hours'
    FROM gone
    WHERE taken.queue_id = %(queue)s AND taken.idempotency_key = gone.idempotency_key AND taken.event_id = gone.id
), settled AS (
    INSERT INTO queue_settled (queue_id, id, token, outcome, at)
    SELECT %(queue)s, gone.id, gone.lease_token, 'superseded', statement_timestamp()
    FROM gone WHERE gone.lease_token IS NOT NULL
)
SELECT gone.id FROM gone
