-- does: says whether a grant still opens a channel, and for how many seconds; runs after the read that it guards
-- locks: nothing
-- index: channel_grant primary key, channel_grant_channel (grant_id, channel)
SELECT CASE
    WHEN granted.id IS NULL THEN 'outside'
    WHEN held.expires_at <= statement_timestamp() THEN 'expired'
    WHEN granted.revoked_at IS NOT NULL THEN 'revoked'
    ELSE 'open'
END, extract(epoch FROM held.expires_at - statement_timestamp())::float8
FROM channel_grant AS held
LEFT JOIN channel_grant_channel AS granted ON granted.grant_id = held.id AND granted.channel = %(name)s
WHERE held.id = %(grant)s
