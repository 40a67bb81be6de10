-- does: the ranges retention took before the consumer came, each told once
-- locks: the cursor rows concerned; runs under the consumer's lock
-- index: consumer_pkey, cursor_pkey
WITH untold AS (
    SELECT partition, skipped_from, skipped_to
    FROM cursor
    WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND skipped_from IS NOT NULL
    ORDER BY partition
    FOR UPDATE
),
cleared AS (
    UPDATE cursor
    SET skipped_from = NULL, skipped_to = NULL
    FROM untold
    WHERE cursor.topic_id = %(topic_id)s AND cursor.consumer_id = %(consumer_id)s AND cursor.partition = untold.partition
),
told AS (
    UPDATE consumer SET has_skipped = false WHERE topic_id = %(topic_id)s AND id = %(consumer_id)s
)
SELECT partition, skipped_from, skipped_to FROM untold ORDER BY partition
