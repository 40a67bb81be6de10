-- does: moves destinations on to the new oldest offset, ends or cuts leases of what is gone, writes down what each reader lost
-- locks: the cursor rows and leases; runs under the consumers' locks
-- index: cursor_pkey, lease_first, lease_pkey, consumer_pkey
WITH behind AS (
    SELECT
        c.id AS consumer_id, c.kind, greatest(coalesce(oldest.first_offset, k.position), %(before)s::bigint) AS first_offset
    FROM consumer AS c
    JOIN cursor AS k ON k.topic_id = c.topic_id AND k.consumer_id = c.id AND k.partition = %(partition)s
    LEFT JOIN LATERAL (
        SELECT l.first_offset
        FROM lease AS l
        WHERE l.topic_id = c.topic_id AND l.consumer_id = c.id AND l.partition = %(partition)s AND NOT l.redriven
        ORDER BY l.first_offset
        LIMIT 1
    ) AS oldest ON true
    WHERE c.topic_id = %(topic_id)s AND c.id = ANY (%(consumers)b::integer[])
        AND coalesce(oldest.first_offset, k.position) < %(oldest)s
),
touched AS (
    SELECT
        l.consumer_id, l.id, l.generation, l.events,
        %(oldest)s::bigint - l.first_offset AS lost,
        CASE
            WHEN l.next_offset <= %(oldest)s THEN 0
            WHEN l.picked IS NULL THEN l.next_offset - %(oldest)s
            ELSE (SELECT count(*) FROM unnest(l.picked) AS step WHERE step >= %(oldest)s::bigint - l.first_offset)
        END AS remaining
    FROM behind
    JOIN lease AS l ON l.topic_id = %(topic_id)s AND l.consumer_id = behind.consumer_id
        AND l.partition = %(partition)s AND l.first_offset < %(oldest)s AND NOT l.redriven
),
ended AS (
    DELETE FROM lease
    USING touched
    WHERE lease.topic_id = %(topic_id)s AND lease.consumer_id = touched.consumer_id AND lease.id = touched.id
        AND touched.remaining = 0
    RETURNING lease.consumer_id, lease.id, lease.generation, lease.events AS lost
),
remembered AS (
    INSERT INTO settled (topic_id, consumer_id, id, generation, partition, outcome, at)
    SELECT %(topic_id)s, consumer_id, id, generation, %(partition)s, 'expired', statement_timestamp() FROM ended
),
cut AS (
    UPDATE lease
    SET first_offset = %(oldest)s,
        events = touched.remaining,
        picked = (SELECT array_agg(step - touched.lost ORDER BY step) FROM unnest(picked) AS step WHERE step >= touched.lost)
    FROM touched
    WHERE lease.topic_id = %(topic_id)s AND lease.consumer_id = touched.consumer_id AND lease.id = touched.id
        AND touched.remaining > 0
    RETURNING lease.consumer_id, touched.events - touched.remaining AS lost
),
moved AS (
    UPDATE cursor
    SET position = greatest(position, %(oldest)s),
        jumped = jumped + greatest(0, %(oldest)s - position) + coalesce((
            SELECT sum(gone.lost)
            FROM (SELECT consumer_id, lost FROM ended UNION ALL SELECT consumer_id, lost FROM cut) AS gone
            WHERE gone.consumer_id = cursor.consumer_id
        ), 0),
        skipped_from = coalesce(skipped_from, behind.first_offset),
        skipped_to = %(oldest)s - 1
    FROM behind
    WHERE cursor.topic_id = %(topic_id)s AND cursor.consumer_id = behind.consumer_id AND cursor.partition = %(partition)s
        AND behind.kind = 'destination'
)
INSERT INTO skipped_range (topic_id, consumer_id, partition, first_offset, last_offset, at)
SELECT %(topic_id)s, consumer_id, %(partition)s, first_offset, %(oldest)s - 1, statement_timestamp()
FROM behind
WHERE first_offset < %(oldest)s
ON CONFLICT (topic_id, consumer_id, partition, first_offset) DO UPDATE SET last_offset = excluded.last_offset
RETURNING consumer_id
