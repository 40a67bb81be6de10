-- does: objects of a topic that have been noted as leaving for so many seconds and are not deleted yet, up to a number
-- locks: nothing
-- index: segment_leaving primary key
SELECT partition, first_offset, locator
FROM segment_leaving
WHERE topic_id = %(topic_id)s AND deleted_at IS NULL
    AND since < statement_timestamp() - make_interval(secs => %(seconds)s)
LIMIT %(limit)s
