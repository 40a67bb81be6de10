-- does: keeps objects of cold storage from being deleted; brings no answer
-- locks: an advisory lock, shared, until the end of the transaction
-- index: none
SELECT pg_advisory_xact_lock_shared(hashtextextended('topics.objects', 0))
