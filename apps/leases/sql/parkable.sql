-- does: what stands in a lease that may have to be given up
-- locks: nothing; whoever parks compares generation and hand-outs again
-- index: lease_pkey
SELECT partition, first_offset, next_offset, picked, redriven, generation, handouts, error
FROM lease
WHERE topic_id = %(topic_id)s AND consumer_id = %(consumer_id)s AND id = %(lease_id)s
