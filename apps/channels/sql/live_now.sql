-- does: sums the live connections to these channels over the processes heard of lately
-- locks: nothing
-- index: channel_live primary key
SELECT given.channel, coalesce(sum(live.connections), 0)::bigint
FROM unnest(%(channels)b::text[]) AS given (channel)
LEFT JOIN channel_live AS live
    ON live.channel = given.channel AND live.seen_at > statement_timestamp() - interval '25 seconds'
GROUP BY given.channel
