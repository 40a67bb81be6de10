-- does: leases the first ready events of a queue that is not paused, in the order of priority, time and age
-- locks: those events, skipping locked ones
-- index: queue primary key, queue_event_ready, queue_event primary key
UPDATE queue_event AS event SET
    state = 'leased', attempts = event.attempts + 1, leased_by = %(worker)s,
    lease_token = (%(tokens)b::uuid[])[picked.i::integer],
    due_at = statement_timestamp() + %(seconds)s * interval '1 second'
FROM unnest(ARRAY(
    SELECT candidate.id FROM queue_event AS candidate
    WHERE candidate.queue_id = %(queue)s AND candidate.state = 'ready'
        AND candidate.n > (
            SELECT queue.purged_to FROM queue
            WHERE queue.id = %(queue)s AND queue.paused_at IS NULL AND queue.deleted_at IS NULL
        )
    ORDER BY candidate.priority DESC, candidate.scheduled_at, candidate.n
    LIMIT cardinality(%(tokens)b::uuid[])
    FOR UPDATE SKIP LOCKED
)) WITH ORDINALITY AS picked (id, i)
WHERE event.queue_id = %(queue)s AND event.id = picked.id
RETURNING picked.i, event.id, event.schedule_id, event.payload, event.scheduled_at, event.attempts, event.lease_token,
    event.due_at
