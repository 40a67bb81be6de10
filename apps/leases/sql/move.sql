-- does: puts a consumer's positions elsewhere; members of a group who hold these partitions are fenced, and assigned anew when they renew
-- locks: the cursor rows; runs under the consumer's lock
-- index: cursor_pkey
UPDATE cursor
SET position = target.position,
    jumped = jumped + target.position - cursor.position + target.superseded,
    fencing_token = fencing_token + CASE WHEN holder IS NULL THEN 0 ELSE 1 END,
    holder = NULL,
    held_until = NULL,
    skipped_from = NULL,
    skipped_to = NULL
FROM unnest(%(partitions)b::smallint[], %(positions)b::bigint[], %(superseded)b::bigint[])
    AS target (partition, position, superseded)
WHERE cursor.topic_id = %(topic_id)s AND cursor.consumer_id = %(consumer_id)s AND cursor.partition = target.partition
