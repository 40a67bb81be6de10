-- does: the objects that the index of a topic names, forgotten ones too
-- locks: nothing
-- index: segment primary key
SELECT locator, forgotten_at IS NULL AS readable
FROM segment
WHERE topic_id = %(topic_id)s
