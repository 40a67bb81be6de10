-- does: appends what is not a duplicate, numbered on from each head; answers heads, hot windows, and duplicates (item, offset)
-- locks: nothing more: the caller holds the partition rows, which makes reading dedup and the heads here safe
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
    FROM unnest(%(key_hashes)b::text[]::uuid[], %(slots)b::smallint[]) WITH ORDINALITY AS item (key_hash, slot, n)
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
fresh AS MATERIALIZED (
    SELECT
        item.slot, item.key_hash, item.kind, item.partition_key, item.key, item.type, item.source, item.subject, item.body,
        (SELECT offsets FROM head)[item.slot] + row_number() OVER running - 1 AS "offset",
        (SELECT bytes FROM head)[item.slot] + sum(item.size) OVER running AS total_bytes
    FROM unnest(
        %(slots)b::smallint[], %(key_hashes)b::text[]::uuid[], %(kinds)b::smallint[], %(sizes)b::integer[],
        %(partition_keys)b::text[], %(keys)b::text[], %(types)b::text[], %(sources)b::text[], %(subjects)b::text[],
        %(bodies)b::text[]
    ) WITH ORDINALITY AS item (slot, key_hash, kind, size, partition_key, key, type, source, subject, body, n)
    WHERE (SELECT offsets FROM head) IS NOT NULL AND item.n NOT IN (SELECT known.n FROM known)
    WINDOW running AS (PARTITION BY item.slot ORDER BY item.n ROWS UNBOUNDED PRECEDING)
),
appended AS (
    INSERT INTO event
    (topic_id, partition, kind, "offset", appended_at, total_bytes, partition_key, key, type, source, subject, body)
    SELECT
        %(topic_id)s, (%(partitions)b::smallint[])[slot], kind, "offset", (SELECT times FROM head)[slot], total_bytes,
        partition_key, key, type, source, subject, body
    FROM fresh
),
remembered AS (
    INSERT INTO dedup (topic_id, partition, key_hash, day, "offset", at)
    SELECT
        %(topic_id)s, (%(partitions)b::smallint[])[slot], key_hash, (statement_timestamp() AT TIME ZONE 'UTC')::date,
        "offset", statement_timestamp()
    FROM fresh
    WHERE key_hash IS NOT NULL
    ON CONFLICT (topic_id, partition, key_hash, day) DO UPDATE SET "offset" = excluded."offset", at = excluded.at
)
SELECT
    head.offsets, head.bytes, head.hot_offsets, head.bytes_before,
    ARRAY(SELECT known.n FROM known ORDER BY known.n) AS duplicates,
    ARRAY(SELECT known."offset" FROM known ORDER BY known.n) AS duplicate_offsets
FROM head
