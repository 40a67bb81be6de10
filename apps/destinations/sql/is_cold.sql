-- does: says whether something that is handed out next has left the hot window
-- locks: nothing
-- index: cursor_pkey, topic_partition_pkey, lease_first
SELECT EXISTS (
    SELECT
    FROM cursor AS reader
    JOIN topic_partition AS home ON home.topic_id = reader.topic_id AND home.partition = reader.partition
    WHERE reader.topic_id = %(topic)s AND reader.consumer_id = %(consumer)s
        AND (
            reader.position < home.hot_offset
            OR EXISTS (
                SELECT FROM lease
                WHERE lease.topic_id = %(topic)s AND lease.consumer_id = %(consumer)s AND lease.partition = reader.partition
                    AND lease.first_offset < home.hot_offset AND NOT lease.redriven
            )
        )
)
