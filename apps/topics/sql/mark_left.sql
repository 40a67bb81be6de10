-- does: notes that leaving objects are deleted
-- locks: those rows
-- index: segment_leaving primary key
UPDATE segment_leaving
SET deleted_at = statement_timestamp()
FROM unnest(%(partitions)b::smallint[], %(firsts)b::bigint[], %(locators)b::text[]) AS gone (partition, first_offset, locator)
WHERE segment_leaving.topic_id = %(topic_id)s AND segment_leaving.partition = gone.partition
    AND segment_leaving.first_offset = gone.first_offset AND segment_leaving.locator = gone.locator
RETURNING 1
