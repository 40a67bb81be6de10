-- does: takes one sequence that is never readable, and removes what a locked channel holds
-- locks: nothing but what it removes (the channel's row is locked by the statement before)
-- index: channel (name), primary keys of channel_event, channel_document and channel_log
WITH ended AS (
    UPDATE channel SET
        last_sequence = last_sequence + 1, oldest_sequence = last_sequence + 2, deleted_at = statement_timestamp()
    WHERE name = %(name)s AND deleted_at IS NULL
    RETURNING id, last_sequence
), events AS (
    DELETE FROM channel_event WHERE channel_id = (SELECT ended.id FROM ended)
), documents AS (
    DELETE FROM channel_document WHERE channel_id = (SELECT ended.id FROM ended)
), lines AS (
    DELETE FROM channel_log WHERE channel_id = (SELECT ended.id FROM ended)
)
SELECT last_sequence FROM ended
