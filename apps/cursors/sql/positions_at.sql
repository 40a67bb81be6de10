-- does: for each partition the first offset appended at or after a time, by halving between the bounds given (times never decrease)
-- locks: nothing
-- index: event_pkey
WITH RECURSIVE search AS (
    SELECT partition, low, high
    FROM unnest(%(partitions)b::smallint[], %(lows)b::bigint[], %(highs)b::bigint[]) AS bound (partition, low, high)
    UNION ALL
    SELECT
        search.partition,
        CASE WHEN middle.appended_at < %(time)s THEN middle."offset" + 1 ELSE search.low END,
        CASE WHEN middle.appended_at < %(time)s THEN search.high ELSE middle."offset" END
    FROM search CROSS JOIN LATERAL (
        SELECT "offset", appended_at
        FROM event
        WHERE topic_id = %(topic_id)s AND event.partition = search.partition
            AND "offset" = (search.low + search.high) / 2
    ) AS middle
    WHERE search.low < search.high
)
SELECT partition, max(low) FROM search GROUP BY partition
