-- does: notes that an API key is in use, at most once a minute
-- locks: the key's row, unless somebody holds it: then the next look-up notes it
-- index: access_api_key_pkey
UPDATE access_api_key
   SET last_used_at = statement_timestamp()
 WHERE id = (SELECT id
               FROM access_api_key
              WHERE id = %(id)s
                AND (last_used_at IS NULL OR last_used_at < statement_timestamp() - interval '1 minute')
                FOR UPDATE SKIP LOCKED)
