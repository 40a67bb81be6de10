-- does: how many repairs reconciles have made, by kind
-- locks: nothing
-- index: none: there should be no rows
SELECT kind, count(*)::float8
FROM topic_repair
GROUP BY kind
