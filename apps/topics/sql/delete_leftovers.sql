-- does: removes up to `limit` rows before a partition's hot part that a readable segment holds as well
-- locks: those rows, which nobody reads any more
-- index: topic_partition primary key, event primary key, segment primary key
DELETE FROM event
USING topic_partition AS p
WHERE p.topic_id = %(topic_id)s AND p.partition = %(partition)s
    AND event.topic_id = p.topic_id AND event.partition = p.partition
    AND event."offset" < p.hot_offset AND event."offset" >= %(first)s AND event."offset" < %(first)s + %(limit)s
    AND (event."offset" < p.oldest_offset OR EXISTS (
        SELECT FROM segment AS s
        WHERE s.topic_id = p.topic_id AND s.partition = p.partition AND s.first_offset <= event."offset"
            AND s.last_offset >= event."offset"
    ))
RETURNING 1
