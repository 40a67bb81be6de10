-- does: the readable segments that hold any of the offsets first … after - 1 of a partition
-- locks: nothing
-- index: segment_pkey
SELECT first_offset, last_offset, records, sha256, locator
FROM segment
WHERE topic_id = %(topic_id)s AND partition = %(partition)s AND first_offset < %(after)s AND last_offset >= %(first)s
    AND first_offset >= coalesce((
        SELECT before.first_offset
        FROM segment AS before
        WHERE before.topic_id = %(topic_id)s AND before.partition = %(partition)s AND before.first_offset <= %(first)s
        ORDER BY before.first_offset DESC
        LIMIT 1
    ), 0)
    AND forgotten_at IS NULL
ORDER BY first_offset
LIMIT %(limit)s
