-- does: makes a channel unless it exists
-- locks: the new row, or waits for another that makes the same one; callers go in the order of the names
-- index: channel (name)
INSERT INTO channel (name, kind_id, last_sequence, oldest_sequence, total_bytes, last_log, created_at)
VALUES (%(name)s, %(kind)s, 0, 1, 0, 0, statement_timestamp())
ON CONFLICT (name) DO NOTHING
