-- does: removes up to 1,000 idempotency keys and as many group keys of a deleted queue
-- locks: those rows
-- index: queue_key primary key, queue_group primary key
WITH keys AS (
    DELETE FROM queue_key WHERE queue_id = %(queue)s AND idempotency_key = ANY (ARRAY(
        SELECT idempotency_key FROM queue_key WHERE queue_id = %(queue)s LIMIT 1000
    )) RETURNING 1
), groups AS (
    DELETE FROM queue_group WHERE queue_id = %(queue)s AND group_key = ANY (ARRAY(
        SELECT group_key FROM queue_group WHERE queue_id = %(queue)s LIMIT 1000
    )) RETURNING 1
)
SELECT (SELECT count(*) FROM keys) + (SELECT count(*) FROM groups) AS removed
