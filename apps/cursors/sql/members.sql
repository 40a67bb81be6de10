-- does: the members of a group whose time to live is not over
-- locks: nothing
-- index: group_member_pkey
SELECT member
FROM group_member
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND expires_at > statement_timestamp()
ORDER BY member
