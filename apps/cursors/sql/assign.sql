-- does: gives a member exactly these partitions of a group; a new holding gets a token above all that were given
-- locks: the cursor rows that change; runs under the consumer's lock
-- index: cursor_pkey
UPDATE cursor
SET holder = CASE WHEN cursor.partition = ANY (%(mine)b::smallint[]) THEN %(member)s END,
    held_until = CASE WHEN cursor.partition = ANY (%(mine)b::smallint[])
        THEN statement_timestamp() + %(ttl)s * interval '1 second' END,
    fencing_token = CASE
        WHEN cursor.partition <> ALL (%(mine)b::smallint[]) THEN fencing_token
        WHEN holder = %(member)s AND held_until > statement_timestamp() THEN fencing_token
        -- The clock is in it so that a group deleted and made again gives no token twice.
        ELSE greatest(fencing_token + 1, (extract(epoch FROM statement_timestamp()) * 1000)::bigint)
    END
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
    AND (cursor.partition = ANY (%(mine)b::smallint[]) OR holder = %(member)s)
RETURNING partition, fencing_token, holder IS NOT NULL AS held
