-- does: dead letters of destinations by destination and fingerprint: how many (counted up to a bound), first and last seen
-- locks: nothing
-- index: dead_letter_fingerprint
WITH RECURSIVE found AS (
    (
        SELECT topic_id, consumer_id, fingerprint
        FROM dead_letter
        WHERE state = 'dead' AND (topic_id, consumer_id, fingerprint) > (%(topic_id)s, %(consumer_id)s, %(fingerprint)s)
        ORDER BY topic_id, consumer_id, fingerprint
        LIMIT 1
    )
    UNION ALL
    SELECT further.topic_id, further.consumer_id, further.fingerprint
    FROM found
    CROSS JOIN LATERAL (
        SELECT topic_id, consumer_id, fingerprint
        FROM dead_letter
        WHERE state = 'dead'
            AND (topic_id, consumer_id, fingerprint) > (found.topic_id, found.consumer_id, found.fingerprint)
        ORDER BY topic_id, consumer_id, fingerprint
        LIMIT 1
    ) AS further
)
SELECT
    d.id AS destination_id, d.name, page.fingerprint, latest.error, counted.number, counted.first_at, latest.last_at,
    page.topic_id, page.consumer_id
FROM (SELECT topic_id, consumer_id, fingerprint FROM found LIMIT %(limit)s) AS page
JOIN destination AS d ON d.topic_id = page.topic_id AND d.consumer_id = page.consumer_id
CROSS JOIN LATERAL (
    SELECT left(error, 300) AS error, last_at
    FROM dead_letter
    WHERE topic_id = page.topic_id AND consumer_id = page.consumer_id AND fingerprint = page.fingerprint AND state = 'dead'
    ORDER BY last_at DESC
    LIMIT 1
) AS latest
CROSS JOIN LATERAL (
    SELECT count(*) AS number, min(few.first_at) AS first_at
    FROM (
        SELECT first_at
        FROM dead_letter
        WHERE topic_id = page.topic_id AND consumer_id = page.consumer_id AND fingerprint = page.fingerprint
            AND state = 'dead'
        ORDER BY last_at
        LIMIT %(most)s
    ) AS few
) AS counted
ORDER BY page.topic_id, page.consumer_id, page.fingerprint
