-- does: the first unsettled offset of each partition of a consumer: that of its oldest live lease, or the position
-- locks: nothing
-- index: cursor_pkey, lease_first
SELECT
    partition,
    coalesce(
        (
            SELECT min(first_offset)
            FROM lease
            WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND lease.partition = cursor.partition
                AND NOT redriven
        ),
        position
    )
FROM cursor
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
ORDER BY partition
