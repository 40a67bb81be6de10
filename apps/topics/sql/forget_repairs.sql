-- does: forgets up to `limit` repairs made before a time, and adds them to the sum of their kind
-- locks: those rows, and the sums
-- index: topic_repair_pkey, topic_repair_sum_pkey
WITH gone AS (
    DELETE FROM topic_repair
    WHERE id IN (SELECT old.id FROM topic_repair AS old ORDER BY old.id LIMIT %(limit)s)
        AND at < statement_timestamp() - make_interval(days => %(days)s)
    RETURNING kind
)
INSERT INTO topic_repair_sum (kind, repairs)
SELECT kind, count(*)
FROM gone
GROUP BY kind
ON CONFLICT (kind) DO UPDATE SET repairs = topic_repair_sum.repairs + excluded.repairs
RETURNING repairs
