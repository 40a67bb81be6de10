-- does: one event with its body
-- locks: nothing
-- index: event primary key
SELECT
    partition, "offset", appended_at, kind, partition_key, key, type, source, subject, octet_length(body) AS size, body
FROM event
WHERE topic_id = %(topic_id)s AND partition = %(partition)s AND "offset" = %(offset)s
