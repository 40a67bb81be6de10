-- does: takes a number for a new consumer (a composite key leaves the ORM none to ask for)
-- locks: nothing
-- index: none
SELECT nextval('consumer_id_seq')
