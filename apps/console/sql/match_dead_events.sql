-- does: dead events of the given queues, those of one fingerprint or all, the longest dead first, up to a limit
-- locks: nothing
-- index: queue_event_dead
SELECT asked.home, dead.id
FROM unnest(%(homes)b::uuid[], %(queues)b::integer[]) AS asked (home, queue_id)
CROSS JOIN LATERAL (
    SELECT id
    FROM queue_event
    WHERE queue_id = asked.queue_id AND state = 'dead'
        AND (%(fingerprint)s::text IS NULL OR %(fingerprint)s = left(encode(sha256(convert_to(lower(left(regexp_replace(
            left(split_part(btrim(coalesce(error, ''), E' \n\r\t'), E'\n', 1), 1000),
            '[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|[0-9]+', '#', 'gi'), 200)), 'UTF8')), 'hex'), 16))
    ORDER BY died_at, n
    LIMIT %(limit)s
) AS dead
LIMIT %(limit)s
