-- does: notes objects that no index row names: from now on none will, and they go a while later; answers those that are new
-- locks: nothing that others hold
-- index: segment_leaving primary key
INSERT INTO segment_leaving (topic_id, partition, first_offset, locator, since)
SELECT %(topic_id)s, orphan.partition, orphan.first_offset, orphan.locator, statement_timestamp()
FROM unnest(%(partitions)b::smallint[], %(firsts)b::bigint[], %(locators)b::text[])
    AS orphan (partition, first_offset, locator)
ON CONFLICT (topic_id, partition, first_offset, locator) DO NOTHING
RETURNING partition, locator
