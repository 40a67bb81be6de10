-- does: the readers of a partition that have not settled all before an offset, each with the first offset they have not
-- locks: nothing
-- index: cursor_pkey, lease_first
SELECT c.id, c.kind, coalesce(oldest.first_offset, k.position) AS unsettled
FROM consumer AS c
JOIN cursor AS k ON k.topic_id = c.topic_id AND k.consumer_id = c.id AND k.partition = %(partition)s
LEFT JOIN LATERAL (
    SELECT l.first_offset
    FROM lease AS l
    WHERE l.topic_id = c.topic_id AND l.consumer_id = c.id AND l.partition = %(partition)s AND NOT l.redriven
    ORDER BY l.first_offset
    LIMIT 1
) AS oldest ON true
WHERE c.topic_id = %(topic_id)s AND coalesce(oldest.first_offset, k.position) < %(offset)s
ORDER BY c.id
