-- does: says why a token no longer holds: what it did before, and whether its event is known at all
-- locks: nothing
-- index: queue_settled (queue_id, id) of each day, queue_event primary key
SELECT
    EXISTS (SELECT 1 FROM queue_event WHERE queue_id = %(queue)s AND id = %(id)s)
        OR EXISTS (SELECT 1 FROM queue_settled WHERE queue_id = %(queue)s AND id = %(id)s) AS known,
    (SELECT outcome FROM queue_settled
        WHERE queue_id = %(queue)s AND id = %(id)s AND token = %(token)s
            AND at > statement_timestamp() - interval '2 days'
        LIMIT 1) AS outcome,
    (SELECT scheduled_at FROM queue_settled
        WHERE queue_id = %(queue)s AND id = %(id)s AND token = %(token)s
            AND at > statement_timestamp() - interval '2 days'
        LIMIT 1) AS scheduled_at
