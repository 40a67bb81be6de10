-- does: removes what processes that are gone said of their live connections
-- locks: nothing but what it removes
-- index: none: the table holds a row a channel and process with open connections
DELETE FROM channel_live WHERE seen_at < statement_timestamp() - interval '5 minutes'
