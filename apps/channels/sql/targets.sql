-- does: finds the kind of each name, and whether its channel exists
-- locks: nothing
-- index: channel_kind (name), channel (name)
SELECT given.name, kind.id, kind.documents::text, channel.id IS NOT NULL
FROM unnest(%(names)b::text[], %(kinds)b::text[]) AS given (name, kind)
LEFT JOIN channel_kind AS kind ON kind.name = given.kind
LEFT JOIN channel ON channel.name = given.name
