-- does: says of several events and tokens what outcome.sql says of one, in their order
-- locks: nothing
-- index: queue_settled (queue_id, id) of each day, queue_event primary key
SELECT
    EXISTS (SELECT 1 FROM queue_event WHERE queue_id = %(queue)s AND id = given.id)
        OR EXISTS (SELECT 1 FROM queue_settled WHERE queue_id = %(queue)s AND id = given.id) AS known,
    past.outcome, past.scheduled_at
FROM unnest(%(ids)b::uuid[], %(tokens)b::uuid[]) WITH ORDINALITY AS given (id, token, i)
LEFT JOIN LATERAL (
    SELECT settled.outcome, settled.scheduled_at FROM queue_settled AS settled
    WHERE settled.queue_id = %(queue)s AND settled.id = given.id AND settled.token = given.token
        AND settled.at > statement_timestamp() - interval '2 days'
    LIMIT 1
) AS past ON true
ORDER BY given.i
