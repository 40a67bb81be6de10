-- does: the objects that the index of a topic names, forgotten ones too, and those that are noted as leaving
-- locks: nothing
-- index: segment primary key, segment_leaving primary key
SELECT locator, forgotten_at IS NULL AS readable
FROM segment
WHERE topic_id = %(topic_id)s
UNION ALL
SELECT l.locator, false
FROM segment_leaving AS l
WHERE l.topic_id = %(topic_id)s AND NOT EXISTS (
    SELECT FROM segment AS s
    WHERE s.topic_id = l.topic_id AND s.partition = l.partition AND s.first_offset = l.first_offset AND s.locator = l.locator
)
