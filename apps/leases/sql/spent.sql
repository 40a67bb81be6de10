-- does: leases of a topic that ran out, or wait, after their last allowed hand-out
-- locks: nothing; whoever parks compares generation and hand-outs again
-- index: consumer_pkey, lease_visible
SELECT over.consumer_id, over.id
FROM consumer CROSS JOIN LATERAL (
    SELECT consumer_id, id
    FROM lease
    WHERE topic_id = %(topic_id)s AND consumer_id = consumer.id AND visible_at <= statement_timestamp()
        AND handouts >= consumer.max_deliveries
    ORDER BY visible_at
    LIMIT %(limit)s
) AS over
WHERE consumer.topic_id = %(topic_id)s AND consumer.max_deliveries > 0
