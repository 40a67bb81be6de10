-- does: waits for an extend or acknowledgement in flight, so that the next statement sees what this worker really holds
-- locks: every lease this worker holds or held last
-- index: lease_visible
SELECT id
FROM lease
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND worker = %(worker)s AND state <> 'waiting'
ORDER BY id
FOR NO KEY UPDATE
