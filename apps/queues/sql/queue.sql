-- does: finds a live queue by its name, its uid or its number
-- locks: nothing
-- index: queue (name), queue (uid), queue primary key
SELECT id, uid, name, max_attempts, default_lease_seconds, retry_first_seconds, retry_max_seconds
FROM queue WHERE name = %(name)s AND deleted_at IS NULL
UNION ALL
SELECT id, uid, name, max_attempts, default_lease_seconds, retry_first_seconds, retry_max_seconds
FROM queue WHERE uid = %(uid)s AND deleted_at IS NULL
UNION ALL
SELECT id, uid, name, max_attempts, default_lease_seconds, retry_first_seconds, retry_max_seconds
FROM queue WHERE id = %(id)s AND deleted_at IS NULL
