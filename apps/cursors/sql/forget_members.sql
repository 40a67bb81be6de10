-- does: forgets all members of a group that is deleted
-- locks: their rows; runs under the consumer's lock
-- index: group_member_pkey
DELETE FROM group_member
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s
