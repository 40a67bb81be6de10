-- does: forgets what retention took from readers of a topic so many days ago
-- locks: those rows, which nobody changes
-- index: skipped_range_pkey
DELETE FROM skipped_range
WHERE topic_id = %(topic_id)s AND at < statement_timestamp() - make_interval(days => %(days)s)
RETURNING 1
