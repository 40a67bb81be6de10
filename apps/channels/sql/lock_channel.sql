-- does: makes everybody else who publishes to the channel wait until this transaction ends
-- locks: the channel's row; callers go in the order of the names
-- index: channel (name)
SELECT id FROM channel WHERE name = %(name)s FOR NO KEY UPDATE
