-- does: events of one partition from an offset up to another, without their bodies; of one type where one is named (LIKE)
-- locks: nothing
-- index: event primary key
SELECT
    partition, "offset", appended_at, kind, partition_key, key, type, source, subject, octet_length(body) AS size
FROM event
WHERE topic_id = %(topic_id)s AND partition = %(partition)s AND "offset" >= %(first)s AND "offset" < %(before)s
    AND (%(type)s::text IS NULL OR type LIKE %(type)s)
    AND (%(key)s::text IS NULL OR partition_key = %(key)s)
ORDER BY "offset"
LIMIT %(limit)s
