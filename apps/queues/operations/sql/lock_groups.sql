-- does: makes and locks the rows of the group keys, so that whoever decides their heads does so alone
-- locks: queue_group rows, in the order of the keys
-- index: queue_group primary key
INSERT INTO queue_group AS known (queue_id, group_key, touched_at)
SELECT %(queue)s, fresh.group_key, statement_timestamp()
FROM (SELECT DISTINCT group_key FROM unnest(%(groups)b::text[]) AS given (group_key) WHERE group_key IS NOT NULL) AS fresh
ORDER BY fresh.group_key COLLATE "C"
ON CONFLICT (queue_id, group_key) DO UPDATE SET touched_at = excluded.touched_at
