-- does: takes away the partition rows of a topic: from here on nothing can be appended to it
-- locks: topic_partition, FOR UPDATE: waits for appends under way
-- index: topic_partition primary key
DELETE FROM topic_partition
WHERE topic_id = %(topic_id)s
