-- does: makes commits to one partition take turns with each other, with assignments and with seeks; brings no answer
-- locks: the cursor row, until the end of the transaction
-- index: consumer_topic_id_kind_name_key, cursor_pkey
SELECT cursor.partition
FROM consumer
JOIN cursor ON cursor.topic_id = consumer.topic_id AND cursor.consumer_id = consumer.id
WHERE consumer.topic_id = %(topic_id)s AND consumer.kind = 'group' AND consumer.name = %(name)s
    AND cursor.partition = %(partition)s
FOR NO KEY UPDATE OF cursor
