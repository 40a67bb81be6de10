-- does: counts a failure in a row, opens the breaker at a number of them, and says whether this has gone on for five days
-- locks: the state of the destination
-- index: push_state primary key
INSERT INTO push_state AS known (
    destination_id, failures, failing_since, next_attempt_at, last_error, held_code, held_text, held_since
)
VALUES (
    %(destination)s, 1, statement_timestamp(), statement_timestamp() + %(wait)s * interval '1 second', %(error)s, NULL, '', NULL
)
ON CONFLICT (destination_id) DO UPDATE
SET failures = known.failures + 1,
    failing_since = coalesce(known.failing_since, statement_timestamp()),
    next_attempt_at = greatest(
        known.next_attempt_at,
        statement_timestamp() + interval '1 second' * greatest(
            %(wait)s,
            CASE WHEN known.failures + 1 >= %(opens)s
                THEN least(%(longest)s, %(first)s * power(2, least(known.failures + 1 - %(opens)s, 20))) * %(jitter)s
                ELSE 0 END
        )
    ),
    last_error = %(error)s,
    held_code = CASE WHEN known.failures + 1 >= %(opens)s THEN 'breaker_open' END,
    held_text = CASE WHEN known.failures + 1 >= %(opens)s
        THEN 'breaker open after ' || known.failures + 1 || ' failures in a row, the last: ' || %(error)s ELSE '' END,
    held_since = CASE WHEN known.failures + 1 >= %(opens)s THEN coalesce(known.held_since, statement_timestamp()) END
RETURNING failures, failing_since < statement_timestamp() - interval '5 days'
