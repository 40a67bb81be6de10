-- does: takes segments out of the index whose objects are gone
-- locks: those rows, which nobody reads any more
-- index: segment primary key
DELETE FROM segment
USING unnest(%(partitions)b::smallint[], %(firsts)b::bigint[]) AS gone (partition, first_offset)
WHERE segment.topic_id = %(topic_id)s AND segment.partition = gone.partition AND segment.first_offset = gone.first_offset
    AND segment.forgotten_at IS NOT NULL
RETURNING 1
