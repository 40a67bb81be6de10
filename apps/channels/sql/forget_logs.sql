-- does: removes log lines of one channel that are older than its kind keeps, at most a batch
-- locks: nothing but what it removes
-- index: channel primary key, channel_log primary key
WITH old AS (
    SELECT line.sequence, line.at
    FROM channel_log AS line
    WHERE line.channel_id = %(channel)s AND line.at < (
        SELECT statement_timestamp() - kind.logs_seconds * interval '1 second'
        FROM channel LEFT JOIN channel_kind AS kind ON kind.id = channel.kind_id WHERE channel.id = %(channel)s
    )
    ORDER BY line.sequence LIMIT %(batch)s
), gone AS (
    DELETE FROM channel_log AS line USING old
    WHERE line.channel_id = %(channel)s AND line.sequence = old.sequence AND line.at = old.at
    RETURNING line.sequence
)
SELECT count(gone.sequence) FROM gone
