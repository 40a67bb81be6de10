-- does: segments of a topic that were forgotten so many seconds ago or earlier, up to a number
-- locks: nothing
-- index: topic_partition primary key, segment primary key
SELECT s.partition, s.first_offset, s.locator
FROM topic_partition AS p
CROSS JOIN LATERAL (
    SELECT segment.partition, segment.first_offset, segment.locator, segment.forgotten_at
    FROM segment
    WHERE segment.topic_id = p.topic_id AND segment.partition = p.partition AND segment.first_offset < p.oldest_offset
    ORDER BY segment.first_offset
    LIMIT %(limit)s
) AS s
WHERE p.topic_id = %(topic_id)s AND s.forgotten_at < statement_timestamp() - make_interval(secs => %(seconds)s)
LIMIT %(limit)s
