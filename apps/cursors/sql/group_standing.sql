-- does: for each partition of the asked groups position, lag and holder, from one snapshot
-- locks: nothing
-- index: cursor_pkey, topic_partition_pkey, event_pkey
SELECT
    k.consumer_id, k.partition, k.position, p.oldest_offset, log.head,
    CASE WHEN k.held_until > statement_timestamp() THEN k.holder END AS holder,
    CASE WHEN k.held_until > statement_timestamp() THEN k.fencing_token END AS fencing_token,
    CASE WHEN k.held_until > statement_timestamp() THEN k.held_until END AS held_until
FROM unnest(%(topics)b::integer[], %(consumers)b::integer[]) AS asked (topic_id, id)
JOIN cursor AS k ON k.topic_id = asked.topic_id AND k.consumer_id = asked.id
JOIN topic_partition AS p ON p.topic_id = k.topic_id AND p.partition = k.partition
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT e."offset" + 1 FROM event AS e WHERE e.topic_id = k.topic_id AND e.partition = k.partition
        ORDER BY e."offset" DESC LIMIT 1
    ), p.hot_offset) AS head
    OFFSET 0
) AS log
ORDER BY k.consumer_id, k.partition
