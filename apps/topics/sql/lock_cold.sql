-- does: makes merging of a partition's segments and letting go of them take turns; brings no answer
-- locks: an advisory lock of the partition's cold part, until the end of the transaction; appends do not take it
-- index: none
SELECT pg_advisory_xact_lock(hashtextextended('topics.cold:' || %(topic_id)s::integer || ':' || %(partition)s::smallint, 0))
