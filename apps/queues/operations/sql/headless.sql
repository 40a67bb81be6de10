-- does: says of the next 1,000 group keys which have no head: their first living event is blocked
-- locks: nothing
-- index: queue_group primary key, queue_event_group
SELECT known.group_key, coalesce(head.state = 'blocked', false) AS headless
FROM (
    SELECT group_key FROM queue_group
    WHERE queue_id = %(queue)s AND group_key > %(after)s ORDER BY group_key LIMIT 1000
) AS known
LEFT JOIN LATERAL (
    SELECT event.state FROM queue_event AS event
    WHERE event.queue_id = %(queue)s AND event.group_key = known.group_key AND event.state <> 'dead'
    ORDER BY event.n LIMIT 1
) AS head ON true
ORDER BY known.group_key
