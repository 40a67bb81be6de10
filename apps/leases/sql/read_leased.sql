-- does: the events of a lease as CloudEvents in JSON, in offset order, each with its sequence; a body is passed on, not parsed
-- locks: nothing
-- index: event_pkey, topic_pkey
SELECT
    CASE event.kind
        -- As bytes: left() counts the characters of the whole text first, which took half of this statement.
        WHEN 1 THEN convert_from(
            substring(convert_to(event.body, 'UTF8') FROM 1 FOR octet_length(event.body) - 1), 'UTF8'
        ) || ',"sequence":"' || place.sequence || '"}'
        ELSE '{"specversion":"1.0","id":"' || topic.uid || '/' || place.sequence || '","source":"/v1/topics/' || topic.name
            || '","type":"towpath.record"' || CASE event.partition_key
                WHEN '' THEN ''
                ELSE ',"partitionkey":' || to_json(event.partition_key) || ',"subject":' || to_json(event.partition_key)
            END || ',"data":' || to_json(event.body)
            || ',"sequence":"' || place.sequence || '"}'
    END
FROM event
JOIN topic ON topic.id = %(topic_id)s
CROSS JOIN LATERAL (
    SELECT %(place)s || right('00000000000000000000' || event."offset"::text, 20) AS sequence
) AS place
WHERE event.topic_id = %(topic_id)s AND event.partition = %(partition)s
    AND event."offset" >= %(first_offset)s AND event."offset" < %(next_offset)s
    AND (%(picked)b::integer[] IS NULL OR event."offset" - %(first_offset)s = ANY (%(picked)b::integer[]))
ORDER BY event."offset"
