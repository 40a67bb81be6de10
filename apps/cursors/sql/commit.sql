-- does: moves a group's position forward to `offset`, if neither a newer assignment nor the end of the log forbids it
-- locks: nothing more: runs under the cursor's lock (lock_cursor)
-- index: consumer_topic_id_kind_name_key, cursor_pkey, topic_partition_pkey, event_pkey
WITH place AS (
    SELECT
        k.consumer_id, k.position, k.fencing_token, p.oldest_offset,
        k.holder IS NOT NULL AND k.held_until > statement_timestamp() AS held,
        coalesce(
            (
                SELECT max(event."offset") + 1
                FROM event
                WHERE event.topic_id = k.topic_id AND event.partition = k.partition
            ),
            p.hot_offset
        ) AS head
    FROM consumer AS c
    JOIN cursor AS k ON k.topic_id = c.topic_id AND k.consumer_id = c.id
    JOIN topic_partition AS p ON p.topic_id = k.topic_id AND p.partition = k.partition
    WHERE c.topic_id = %(topic_id)s AND c.kind = 'group' AND c.name = %(name)s AND k.partition = %(partition)s
),
verdict AS (
    SELECT
        consumer_id, position, oldest_offset, head,
        held AND %(token)s::bigint IS DISTINCT FROM fencing_token OR %(token)s::bigint <> fencing_token AS fenced
    FROM place
),
moved AS (
    UPDATE cursor
    SET position = %(offset)s, served_at = statement_timestamp(),
        jumped = jumped + greatest(0, least(%(offset)s, verdict.oldest_offset) - verdict.position) -- what retention took
    FROM verdict
    WHERE cursor.topic_id = %(topic_id)s AND cursor.consumer_id = verdict.consumer_id AND cursor.partition = %(partition)s
        AND fenced IS NOT TRUE AND %(offset)s >= verdict.position AND %(offset)s <= verdict.head
)
SELECT coalesce(fenced, false), position, head FROM verdict
