-- does: counts a member in until its time to live is over, and forgets those whose time is
-- locks: its row; runs under the consumer's lock
-- index: group_member_pkey
WITH gone AS (
    DELETE FROM group_member
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND member <> %(member)s
        AND expires_at <= statement_timestamp()
)
INSERT INTO group_member (topic_id, consumer_id, member, expires_at)
VALUES (
    %(topic_id)s, %(consumer_id)s, %(member)s, statement_timestamp() + %(ttl)s * interval '1 second'
)
ON CONFLICT (topic_id, consumer_id, member) DO UPDATE SET expires_at = excluded.expires_at
RETURNING expires_at
