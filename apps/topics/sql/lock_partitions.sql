-- does: takes the rows of the partitions to be written, in order, so that nobody else numbers their events meanwhile
-- locks: topic_partition, FOR NO KEY UPDATE until the transaction ends; waits `patience` for each; the rows are not changed
-- index: topic_partition primary key
SELECT partition
FROM topic_partition
WHERE topic_id = %(topic_id)s
    AND partition = ANY (%(partitions)b::smallint[])
    AND (SELECT set_config('lock_timeout', coalesce(%(patience)s, current_setting('lock_timeout')), true)) IS NOT NULL
ORDER BY partition
FOR NO KEY UPDATE
