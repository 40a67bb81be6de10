-- does: removes the events of a schedule that are not due yet
-- locks: those events
-- index: queue_event_fired
DELETE FROM queue_event
WHERE queue_id = %(queue)s AND schedule_id = %(schedule)s AND scheduled_at > statement_timestamp() AND state = 'waiting'
    AND attempts = 0
RETURNING id
