-- does: of the pairs of grant and channel given, which open nothing any more
-- locks: nothing
-- index: channel_grant primary key, channel_grant_channel (grant_id, channel)
SELECT given.grant_id, given.channel
FROM unnest(%(grants)b::uuid[], %(channels)b::text[]) AS given (grant_id, channel)
LEFT JOIN channel_grant AS held ON held.id = given.grant_id
LEFT JOIN channel_grant_channel AS granted ON granted.grant_id = given.grant_id AND granted.channel = given.channel
WHERE granted.id IS NULL OR granted.revoked_at IS NOT NULL OR held.expires_at <= statement_timestamp()
