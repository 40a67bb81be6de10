-- does: makes the partition rows of a topic
-- locks: nothing that others hold
-- index: topic_partition primary key
INSERT INTO topic_partition (topic_id, partition)
SELECT %(topic_id)s, partition
FROM generate_series(0, %(partitions)s - 1) AS partition
ON CONFLICT (topic_id, partition) DO NOTHING
