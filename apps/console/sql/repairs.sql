-- does: how many repairs reconciles have ever made, by kind
-- locks: nothing
-- index: none: there should be few rows
SELECT kind, sum(repairs)::float8
FROM (
    SELECT kind, count(*) AS repairs FROM topic_repair GROUP BY kind
    UNION ALL
    SELECT kind, repairs FROM topic_repair_sum
) AS made
GROUP BY kind
