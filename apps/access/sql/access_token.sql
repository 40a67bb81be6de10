-- does: finds an OAuth access token in force by its checksum, with the client behind it, and how long it still is
-- locks: nothing
-- index: oauth2_provider_accesstoken.token_checksum (unique)
SELECT client.uid, client.name, client.grants, token.scope,
       extract(epoch FROM token.expires - statement_timestamp())::float8 AS seconds_left
  FROM oauth2_provider_accesstoken AS token
  JOIN access_oauth_client AS client ON client.application_id = token.application_id
 WHERE token.token_checksum = %(checksum)s
   AND token.expires > statement_timestamp()
   AND client.disabled_at IS NULL
