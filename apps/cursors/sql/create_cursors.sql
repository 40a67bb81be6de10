-- does: gives a new consumer its position in each partition
-- locks: nothing
-- index: cursor_pkey
INSERT INTO cursor (topic_id, consumer_id, partition, position, jumped)
SELECT %(topic_id)s, %(consumer_id)s, partition, position, position
FROM unnest(%(partitions)b::smallint[], %(positions)b::bigint[]) AS start (partition, position)
