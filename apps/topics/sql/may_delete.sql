-- does: whether nobody keeps objects of cold storage from being deleted
-- locks: an advisory lock, which waits for nothing, until the end of the transaction
-- index: none
SELECT pg_try_advisory_xact_lock(hashtextextended('topics.objects', 0))
