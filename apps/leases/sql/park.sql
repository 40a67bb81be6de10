-- does: gives up a lease that nobody has changed meanwhile: its events become dead letters, those not named are settled with it
-- locks: the lease, the dead letters of the same events
-- index: lease_pkey, lease_first, cursor_pkey, consumer_pkey, dead_letter place
WITH gone AS (
    DELETE FROM lease
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND id = %(lease_id)s
        AND generation = %(generation)s AND handouts = %(handouts)s
        AND (state <> 'waiting' OR NOT %(only_open)s)
        AND (visible_at <= statement_timestamp() OR NOT %(only_over)s)
    RETURNING topic_id, consumer_id, id, partition, generation, handouts, state, leased_at
),
remembered AS (
    INSERT INTO settled (topic_id, consumer_id, id, generation, partition, outcome, at)
    SELECT topic_id, consumer_id, id, generation, partition, %(outcome)s, statement_timestamp()
    FROM gone
    WHERE state <> 'waiting'
),
parked AS (
    INSERT INTO dead_letter (
        topic_id, consumer_id, id, partition, "offset", state, lease_id, handouts, deaths, fingerprint, error, first_at, last_at, body
    )
    SELECT
        topic_id, consumer_id, letter.id, partition, letter."offset", 'dead', gone.id, handouts, 1, letter.fingerprint, letter.error,
        leased_at, statement_timestamp(), letter.body
    FROM gone CROSS JOIN unnest(
        %(ids)b::uuid[], %(offsets)b::bigint[], %(bodies)b::text[], %(errors)b::text[], %(fingerprints)b::text[]
    ) AS letter (id, "offset", body, error, fingerprint)
    ON CONFLICT (topic_id, consumer_id, partition, "offset") DO UPDATE
    SET state = 'dead',
        lease_id = excluded.lease_id,
        handouts = dead_letter.handouts + excluded.handouts,
        deaths = dead_letter.deaths + 1,
        fingerprint = excluded.fingerprint,
        error = excluded.error,
        last_at = excluded.last_at,
        redriven_at = NULL
)
SELECT
    partition,
    coalesce(
        (
            SELECT min(first_offset)
            FROM lease
            WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND lease.partition = gone.partition
                AND id <> %(lease_id)s AND NOT redriven
        ),
        (
            SELECT position
            FROM cursor
            WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND cursor.partition = gone.partition
        )
    ) AS unsettled
FROM gone
