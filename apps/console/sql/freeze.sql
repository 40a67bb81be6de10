-- does: keeps what a bulk operation is to work on, in its order
-- locks: the rows it inserts
-- index: none
INSERT INTO bulk_item (bulk_id, n, home, target, state, note)
SELECT %(bulk)s, given.n, given.home, given.target, 'pending', ''
FROM unnest(%(homes)b::uuid[], %(targets)b::uuid[]) WITH ORDINALITY AS given (home, target, n)
