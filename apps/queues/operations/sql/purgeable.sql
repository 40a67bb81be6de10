-- does: names events up to a number, the dead ones only if asked, with their group keys, in pages by id
-- locks: nothing
-- index: queue_event primary key
SELECT id, group_key FROM queue_event
WHERE queue_id = %(queue)s AND id > %(after)s AND n <= %(upto)s AND (state <> 'dead' OR %(dead_too)s)
ORDER BY id LIMIT 2000
