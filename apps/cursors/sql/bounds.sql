-- does: for each partition of a topic the oldest readable offset and the next one to be written
-- locks: nothing
-- index: topic_partition_pkey, event_pkey
SELECT
    partition,
    oldest_offset,
    hot_offset,
    coalesce(
        (
            SELECT max("offset") + 1
            FROM event
            WHERE event.topic_id = topic_partition.topic_id AND event.partition = topic_partition.partition
        ),
        hot_offset
    ) AS head
FROM topic_partition
WHERE topic_id = %(topic_id)s
ORDER BY partition
