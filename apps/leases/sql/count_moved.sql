-- does: how many leases a seek of these partitions would end, and how many members of a group it would fence
-- locks: nothing
-- index: lease_first, cursor_pkey
SELECT
    (
        SELECT count(*)
        FROM lease
        WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
            AND partition = ANY (%(partitions)b::smallint[]) AND NOT redriven
    ) + (
        SELECT count(*)
        FROM cursor
        WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
            AND partition = ANY (%(partitions)b::smallint[]) AND held_until > statement_timestamp()
    ) AS fenced
