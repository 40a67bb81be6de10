-- does: as make_channel and lock_channel for many at once: one statement however many; a number is drawn for new ones only
-- locks: the channels' rows, new or not, in the order of the names
-- index: channel (name)
INSERT INTO channel (id, name, kind_id, last_sequence, oldest_sequence, total_bytes, last_log, created_at)
SELECT coalesce(known.id, nextval(pg_get_serial_sequence('channel', 'id'))), given.name, given.kind,
    0, 1, 0, 0, statement_timestamp()
FROM unnest(%(names)b::text[], %(kinds)b::integer[]) AS given (name, kind)
LEFT JOIN channel AS known ON known.name = given.name
ORDER BY given.name COLLATE "C"
ON CONFLICT (name) DO UPDATE SET last_log = channel.last_log WHERE false
