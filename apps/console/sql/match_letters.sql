-- does: dead letters of the given destinations, those of one fingerprint or all, up to a limit
-- locks: nothing
-- index: dead_letter_fingerprint
SELECT asked.home, letter.id
FROM unnest(%(homes)b::uuid[], %(topics)b::integer[], %(consumers)b::integer[]) AS asked (home, topic_id, consumer_id)
CROSS JOIN LATERAL (
    SELECT id
    FROM dead_letter
    WHERE topic_id = asked.topic_id AND consumer_id = asked.consumer_id AND state = 'dead'
        AND fingerprint BETWEEN %(fingerprint)s AND %(last_fingerprint)s
    ORDER BY fingerprint, last_at
    LIMIT %(limit)s
) AS letter
LIMIT %(limit)s
