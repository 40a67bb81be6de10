-- does: appends lines to the log of a channel, numbered in their order
-- locks: the channel's row
-- index: channel (name)
WITH counted AS (
    UPDATE channel SET last_log = last_log + cardinality(%(messages)b::text[])
    WHERE name = %(name)s
    RETURNING id, last_log
), stored AS (
    INSERT INTO channel_log (channel_id, sequence, at, time, level, message, fields)
    SELECT counted.id, counted.last_log - cardinality(%(messages)b::text[]) + given.i, statement_timestamp(),
        coalesce(given.time, statement_timestamp()), given.level, given.message, given.fields
    FROM counted, unnest(
        %(times)b::timestamptz[], %(levels)b::text[], %(messages)b::text[], %(fields)b::text[]
    ) WITH ORDINALITY AS given (time, level, message, fields, i)
)
SELECT last_log FROM counted
