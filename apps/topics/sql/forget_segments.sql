-- does: makes what is before an offset of a partition unreadable; its objects go a while later
-- locks: topic_partition, to the end of the transaction; the segments
-- index: topic_partition primary key, segment primary key
WITH moved AS (
    UPDATE topic_partition
    SET oldest_offset = %(oldest)s
    WHERE topic_id = %(topic_id)s AND partition = %(partition)s AND oldest_offset < %(oldest)s AND hot_offset >= %(oldest)s
    RETURNING topic_id, partition
)
UPDATE segment
SET forgotten_at = statement_timestamp()
FROM moved
WHERE segment.topic_id = moved.topic_id AND segment.partition = moved.partition
    AND segment.last_offset < %(oldest)s AND segment.forgotten_at IS NULL
RETURNING segment.first_offset
