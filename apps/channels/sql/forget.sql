-- does: removes the oldest events of one channel that its kind keeps no longer, at most a batch, and moves its beginning
-- locks: the channel's row
-- index: channel primary key, channel_event primary key
WITH kept AS (
    SELECT channel.id, least(
        channel.oldest_sequence + %(batch)s,
        channel.last_sequence + 1,
        greatest(
            channel.oldest_sequence,
            channel.last_sequence - kind.events_records + 1,
            coalesce((
                SELECT max(event.sequence) + 1 FROM channel_event AS event
                WHERE event.channel_id = %(channel)s AND event.sequence >= channel.oldest_sequence
                    AND event.sequence < channel.oldest_sequence + %(batch)s
                    AND (
                        event.at < statement_timestamp() - kind.events_seconds * interval '1 second'
                        OR channel.total_bytes - event.total_bytes + octet_length(event.data) > kind.events_bytes
                    )
            ), channel.oldest_sequence)
        )
    ) AS oldest
    FROM channel LEFT JOIN channel_kind AS kind ON kind.id = channel.kind_id
    WHERE channel.id = %(channel)s
), gone AS (
    DELETE FROM channel_event AS event
    WHERE event.channel_id = %(channel)s AND event.sequence < (SELECT kept.oldest FROM kept)
    RETURNING event.sequence
), moved AS (
    UPDATE channel SET oldest_sequence = greatest(channel.oldest_sequence, kept.oldest)
    FROM kept WHERE channel.id = %(channel)s AND kept.oldest > channel.oldest_sequence
)
SELECT count(gone.sequence) FROM gone
