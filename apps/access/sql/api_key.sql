-- does: finds an API key in force by its prefix, how long it still is, and whether its last use should be noted
-- locks: nothing
-- index: access_api_key_prefix (unique)
SELECT id, uid, name, digest, grants,
       extract(epoch FROM expires_at - statement_timestamp())::float8 AS seconds_left,
       current_setting('transaction_read_only') = 'off'
       AND (last_used_at IS NULL OR last_used_at < statement_timestamp() - interval '1 minute') AS untouched
  FROM access_api_key
 WHERE prefix = %(prefix)s
   AND revoked_at IS NULL
   AND (expires_at IS NULL OR expires_at > statement_timestamp())
