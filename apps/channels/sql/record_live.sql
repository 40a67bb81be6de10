-- does: notes how many live connections this process has to each channel
-- locks: the rows of this process
-- index: channel_live primary key
INSERT INTO channel_live (channel, process, connections, seen_at)
SELECT given.channel, %(process)s::uuid, given.connections, statement_timestamp()
FROM unnest(%(channels)b::text[], %(counts)b::integer[]) AS given (channel, connections)
ORDER BY given.channel
ON CONFLICT (channel, process) DO UPDATE SET connections = excluded.connections, seen_at = excluded.seen_at
