-- does: forgets up to `limit` audit records, the oldest, that were made so many days ago
-- locks: those rows, which nobody changes
-- index: access_audit_pkey
DELETE FROM access_audit
WHERE id IN (SELECT old.id FROM access_audit AS old ORDER BY old.id LIMIT %(limit)s)
    AND at < statement_timestamp() - make_interval(days => %(days)s)
RETURNING 1
