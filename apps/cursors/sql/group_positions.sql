-- does: the next offset to read and the last commit of each partition of a consumer group; no row for a group that is none yet
-- locks: nothing
-- index: consumer_topic_id_kind_name_key, cursor_pkey
SELECT cursor.partition, cursor.position, nullif(cursor.served_at, '-infinity') AS served_at
FROM consumer
JOIN cursor ON cursor.topic_id = consumer.topic_id AND cursor.consumer_id = consumer.id
WHERE consumer.topic_id = %(topic_id)s AND consumer.kind = 'group' AND consumer.name = %(name)s
    AND (%(partition)s::smallint IS NULL OR cursor.partition = %(partition)s::smallint)
