-- does: the last events of every partition of a topic, without their bodies, the latest append first
-- locks: nothing
-- index: topic_partition primary key, event primary key
SELECT
    e.partition, e."offset", e.appended_at, e.kind, e.partition_key, e.key, e.type, e.source, e.subject,
    octet_length(e.body) AS size
FROM topic_partition AS p
CROSS JOIN LATERAL (
    SELECT
        last.partition, last."offset", last.appended_at, last.kind, last.partition_key, last.key, last.type, last.source,
        last.subject, last.body
    FROM event AS last
    WHERE last.topic_id = p.topic_id AND last.partition = p.partition
    ORDER BY last."offset" DESC
    LIMIT %(limit)s
) AS e
WHERE p.topic_id = %(topic_id)s
ORDER BY e.appended_at DESC, e.partition, e."offset" DESC
LIMIT %(limit)s
