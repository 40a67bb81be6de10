-- does: forgets a member of a group and lets go of what it holds
-- locks: its rows; runs under the consumer's lock
-- index: group_member_pkey, cursor_pkey
WITH gone AS (
    DELETE FROM group_member
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND member = %(member)s
)
UPDATE cursor
SET holder = NULL, held_until = NULL
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND holder = %(member)s
