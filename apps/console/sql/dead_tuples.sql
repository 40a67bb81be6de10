-- does: counts dead rows by table (partitions of a day are dropped whole and not looked at)
-- locks: nothing
-- index: none, it reads the catalogue and the server's statistics
SELECT stat.relname, stat.n_dead_tup
FROM pg_stat_user_tables AS stat
JOIN pg_class AS class ON class.oid = stat.relid
WHERE NOT class.relispartition AND stat.n_dead_tup + stat.n_live_tup > 0
