-- does: live leases over all destinations in the order of their keys, after the given one; a worker's only where one is named
-- locks: nothing
-- index: lease_pkey
SELECT
    l.topic_id, l.consumer_id, l.id, l.partition, l.first_offset, l.next_offset, l.events, l.generation, l.attempt,
    l.worker, l.error, l.leased_at, l.visible_at,
    CASE WHEN l.state = 'leased' AND l.visible_at <= statement_timestamp() THEN 'expired' ELSE l.state END AS state,
    d.id AS destination_id, d.name AS destination
FROM (
    SELECT
        topic_id, consumer_id, id, partition, first_offset, next_offset, events, generation, attempt,
        worker, error, leased_at, visible_at, state
    FROM lease
    WHERE (topic_id, consumer_id, id) > (%(topic_id)s, %(consumer_id)s, %(id)s)
        AND (%(worker)s::text IS NULL OR worker = %(worker)s)
    ORDER BY topic_id, consumer_id, id
    LIMIT %(limit)s
) AS l
LEFT JOIN destination AS d ON d.topic_id = l.topic_id AND d.consumer_id = l.consumer_id
ORDER BY l.topic_id, l.consumer_id, l.id
