-- does: forgets leaving objects that were deleted so many seconds ago, and those that a sweep entered just as they were noted
-- locks: those rows
-- index: segment_leaving primary key, segment primary key
DELETE FROM segment_leaving
WHERE topic_id = %(topic_id)s AND (
    deleted_at < statement_timestamp() - make_interval(secs => %(seconds)s)
    OR ( -- no EXISTS: that would be hashed over the whole index
        SELECT true FROM segment AS s
        WHERE s.topic_id = segment_leaving.topic_id AND s.partition = segment_leaving.partition
            AND s.first_offset = segment_leaving.first_offset AND s.locator = segment_leaving.locator
        LIMIT 1
    )
)
RETURNING 1
