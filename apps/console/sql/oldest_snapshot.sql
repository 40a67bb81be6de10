-- does: tells for how many seconds the oldest transaction has kept dead rows from being removed
-- locks: nothing
-- index: none, it reads what the server holds in memory
SELECT coalesce(max(extract(epoch FROM statement_timestamp() - xact_start)), 0)::float
FROM pg_stat_activity
WHERE backend_xmin IS NOT NULL
