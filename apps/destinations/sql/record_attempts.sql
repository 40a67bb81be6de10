-- does: remembers requests to a webhook and what came of them
-- locks: nothing
-- index: none
INSERT INTO webhook_attempt (
    topic_id, consumer_id, at, id, kind, webhook_id, events, attempt, status, error, milliseconds, answer
)
SELECT %(topic)s, %(consumer)s, statement_timestamp() - item.age * interval '1 millisecond', item.id, item.kind, item.webhook_id,
    item.events, item.attempt, item.status, item.error, item.milliseconds, item.answer
FROM unnest(
    %(ids)b::uuid[], %(ages)b::integer[], %(kinds)b::text[], %(webhook_ids)b::text[], %(events)b::integer[], %(attempts)b::integer[],
    %(statuses)b::integer[], %(errors)b::text[], %(milliseconds)b::integer[], %(answers)b::text[]
) AS item (id, age, kind, webhook_id, events, attempt, status, error, milliseconds, answer)
RETURNING id
