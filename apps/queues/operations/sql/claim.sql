-- does: leases the first ready events of a queue not paused by priority, time, age; those without attempts left for no time
-- locks: those events, skipping locked ones
-- index: queue primary key, queue_event_ready, queue_event primary key
UPDATE queue_event AS event SET
    state = 'leased', attempts = event.attempts + (event.attempts < queue.max_attempts)::integer,
    leased_by = CASE WHEN event.attempts < queue.max_attempts THEN %(worker)s END,
    lease_token = (%(tokens)b::uuid[])[picked.i::integer],
    due_at = statement_timestamp()
        + CASE WHEN event.attempts < queue.max_attempts THEN %(seconds)s ELSE 0 END * interval '1 second'
FROM queue CROSS JOIN unnest(ARRAY(
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
WHERE queue.id = %(queue)s AND event.queue_id = %(queue)s AND event.id = picked.id
RETURNING event.due_at > statement_timestamp() AS held, picked.i, event.id, event.schedule_id, event.payload, event.scheduled_at, event.attempts, event.lease_token,
    event.due_at
