-- does: takes segments out of the index that another one holds now, if they are still as they were; their objects go later
-- locks: those rows; runs under lock_cold, with index_merged in the same transaction
-- index: segment primary key
WITH gone AS (
    DELETE FROM segment
    USING unnest(%(firsts)b::bigint[], %(locators)b::text[]) AS source (first_offset, locator)
    WHERE segment.topic_id = %(topic_id)s AND segment.partition = %(partition)s
        AND segment.first_offset = source.first_offset AND segment.locator = source.locator
        AND segment.forgotten_at IS NULL
    RETURNING segment.topic_id, segment.partition, segment.first_offset, segment.locator
)
INSERT INTO segment_leaving (topic_id, partition, first_offset, locator, since)
SELECT topic_id, partition, first_offset, locator, statement_timestamp()
FROM gone
RETURNING first_offset
