-- does: which of these partitions nobody holds at this instant
-- locks: topic_partition, FOR NO KEY UPDATE SKIP LOCKED, until the end of this statement's own transaction
-- index: topic_partition primary key
SELECT partition
FROM topic_partition
WHERE topic_id = %(topic_id)s AND partition = ANY (%(partitions)b::smallint[])
ORDER BY partition
FOR NO KEY UPDATE SKIP LOCKED
