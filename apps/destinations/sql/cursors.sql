-- does: where every reader of a topic stands in each partition, or in one, by name, from one snapshot
-- locks: nothing
-- index: consumer_pkey, cursor_pkey, topic_partition_pkey, event_pkey, lease_first, destination_consumer_unique
SELECT
    k.partition, c.kind, coalesce(d.name, c.name) AS name, d.uid, k.position,
    coalesce(
        (
            SELECT min(l.first_offset)
            FROM lease AS l
            WHERE l.topic_id = k.topic_id AND l.consumer_id = k.consumer_id AND l.partition = k.partition AND NOT l.redriven
        ),
        k.position
    ) AS unsettled,
    p.oldest_offset, log.head
FROM topic_partition AS p
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT e."offset" + 1 FROM event AS e WHERE e.topic_id = p.topic_id AND e.partition = p.partition
        ORDER BY e."offset" DESC LIMIT 1
    ), p.hot_offset) AS head
    OFFSET 0
) AS log
JOIN consumer AS c ON c.topic_id = p.topic_id
JOIN cursor AS k ON k.topic_id = c.topic_id AND k.consumer_id = c.id AND k.partition = p.partition
LEFT JOIN destination AS d ON d.topic_id = c.topic_id AND d.consumer_id = c.id
WHERE p.topic_id = %(topic_id)s AND (%(partition)s::smallint IS NULL OR p.partition = %(partition)s::smallint)
ORDER BY k.partition, c.kind, coalesce(d.name, c.name)
