-- does: one page of the requests to a webhook, the newest first
-- locks: nothing
-- index: webhook_attempt primary key of each day
SELECT at, id, kind, webhook_id, events, attempt, status, error, milliseconds, answer
FROM webhook_attempt
WHERE topic_id = %(topic)s AND consumer_id = %(consumer)s
    AND (%(before)s::uuid IS NULL OR id < %(before)s::uuid)
ORDER BY id DESC
LIMIT %(limit)s
