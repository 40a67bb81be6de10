-- does: partitions that members of groups hold now, in the order of their keys, after the given one; a member's only where one is named
-- locks: nothing
-- index: cursor_pkey, consumer_pkey, topic_pkey
SELECT k.topic_id, k.consumer_id, k.partition, k.position, k.holder, k.held_until, k.fencing_token, t.name AS topic, c.name
FROM (
    SELECT topic_id, consumer_id, partition, position, holder, held_until, fencing_token
    FROM cursor
    WHERE (topic_id, consumer_id, partition) > (%(topic_id)s, %(consumer_id)s, %(partition)s)
        AND held_until > statement_timestamp()
        AND (%(worker)s::text IS NULL OR holder = %(worker)s)
    ORDER BY topic_id, consumer_id, partition
    LIMIT %(limit)s
) AS k
JOIN consumer AS c ON c.topic_id = k.topic_id AND c.id = k.consumer_id
JOIN topic AS t ON t.id = k.topic_id
ORDER BY k.topic_id, k.consumer_id, k.partition
