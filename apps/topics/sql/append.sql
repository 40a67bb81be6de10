-- does: appends events that the caller has numbered from 0 by partition, unless one is a duplicate; answers the heads and those
-- locks: nothing more: the caller holds the partition rows, which is what makes reading heads and dedup here safe
-- index: event primary key (one descent a partition), dedup primary key (one descent a key and day of the window)
WITH head AS MATERIALIZED (
    SELECT
        array_agg(coalesce(last."offset" + 1, p.hot_offset) ORDER BY p.partition) AS offsets,
        array_agg(coalesce(last.total_bytes, p.bytes_before) ORDER BY p.partition) AS bytes,
        array_agg(greatest(last.appended_at, p.time_before, statement_timestamp()) ORDER BY p.partition) AS times,
        array_agg(p.hot_offset ORDER BY p.partition) AS hot_offsets,
        array_agg(p.bytes_before ORDER BY p.partition) AS bytes_before
    FROM topic_partition AS p
    LEFT JOIN LATERAL (
        SELECT e."offset", e.total_bytes, e.appended_at
        FROM event AS e
        WHERE e.topic_id = %(topic_id)s AND e.partition = p.partition AND e."offset" >= p.hot_offset
        ORDER BY e."offset" DESC
        LIMIT 1
    ) AS last ON true
    WHERE p.topic_id = %(topic_id)s AND p.partition = ANY (%(partitions)b::smallint[])
),
known AS MATERIALIZED (
    SELECT item.n, d."offset"
    FROM unnest(%(key_hashes)b::uuid[], %(slots)b::smallint[]) WITH ORDINALITY AS item (key_hash, slot, n)
    CROSS JOIN LATERAL (
        SELECT dedup."offset"
        FROM dedup
        WHERE dedup.topic_id = %(topic_id)s
            AND dedup.partition = (%(partitions)b::smallint[])[item.slot]
            AND dedup.key_hash = item.key_hash
            AND dedup.day >= ((statement_timestamp() - make_interval(secs => %(dedup_seconds)s)) AT TIME ZONE 'UTC')::date
            AND dedup.day <= (statement_timestamp() AT TIME ZONE 'UTC')::date
            AND dedup.at > statement_timestamp() - make_interval(secs => %(dedup_seconds)s)
        LIMIT 1
    ) AS d
),
-- Whether any partition would hold more than its quotas: then nothing is written, and the caller looks which.
over AS MATERIALIZED (
    SELECT coalesce(bool_or(
        h.next_offset - h.hot_offset + fresh.records > coalesce(%(max_hot_records)s::bigint, 9223372036854775807)
        OR h.bytes - h.bytes_before + fresh.bytes > coalesce(%(max_hot_bytes)s::bigint, 9223372036854775807)
    ), false) AS is_over
    FROM head CROSS JOIN unnest(head.offsets, head.bytes, head.hot_offsets, head.bytes_before)
        WITH ORDINALITY AS h (next_offset, bytes, hot_offset, bytes_before, slot)
    JOIN unnest(%(fresh_records)b::integer[], %(fresh_bytes)b::integer[]) WITH ORDINALITY AS fresh (records, bytes, slot)
        ON fresh.slot = h.slot
    WHERE num_nonnulls(%(max_hot_records)s::bigint, %(max_hot_bytes)s::bigint) > 0
),
appended AS (
    INSERT INTO event
    (topic_id, partition, kind, "offset", appended_at, total_bytes, partition_key, key, type, source, subject, body)
    SELECT
        %(topic_id)s, (%(partitions)b::smallint[])[slot], kind, (SELECT offsets FROM head)[slot] + number,
        (SELECT times FROM head)[slot], (SELECT bytes FROM head)[slot] + running_bytes,
        partition_key, key, type, source, subject, body
    FROM unnest(
        %(slots)b::smallint[], %(numbers)b::integer[], %(kinds)b::smallint[], %(running_bytes)b::integer[],
        %(partition_keys)b::text[], %(keys)b::text[], %(types)b::text[], %(sources)b::text[], %(subjects)b::text[],
        %(bodies)b::text[]
    ) AS item (slot, number, kind, running_bytes, partition_key, key, type, source, subject, body)
    WHERE NOT EXISTS (SELECT 1 FROM known) AND NOT (SELECT is_over FROM over) AND (SELECT offsets FROM head) IS NOT NULL
),
remembered AS (
    INSERT INTO dedup (topic_id, partition, key_hash, day, "offset", at)
    SELECT
        %(topic_id)s, (%(partitions)b::smallint[])[slot], key_hash, (statement_timestamp() AT TIME ZONE 'UTC')::date,
        (SELECT offsets FROM head)[slot] + number, statement_timestamp()
    FROM unnest(%(slots)b::smallint[], %(numbers)b::integer[], %(key_hashes)b::uuid[]) AS item (slot, number, key_hash)
    WHERE key_hash IS NOT NULL AND NOT EXISTS (SELECT 1 FROM known) AND NOT (SELECT is_over FROM over)
        AND (SELECT offsets FROM head) IS NOT NULL
)
SELECT
    head.offsets, head.bytes, head.hot_offsets, head.bytes_before,
    ARRAY(SELECT known.n FROM known ORDER BY known.n) AS duplicates,
    ARRAY(SELECT known."offset" FROM known ORDER BY known.n) AS duplicate_offsets,
    (SELECT is_over FROM over) AS is_over
FROM head
