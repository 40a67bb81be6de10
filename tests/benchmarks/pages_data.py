"""What the pages are measured beside: rows for everything that the console lists, made by statements in the database.

One destination has ten times the leases of another, and one queue half of all events: pages of those two are measured.
"""

import importlib
import os
from typing import Any

import psycopg

SCALE = float(os.environ.get("TOWPATH_BENCHMARK_SCALE", "0.02"))
DESTINATIONS, QUEUES, PARTITIONS = 100, 20, 8
SIZES = {
    "events": 1_000_000,
    "leases": 100_000,
    "letters": 100_000,
    "queued": 1_000_000,
    "trail": 100_000,
    "channels": 10_000,
    "keys": 1_000,
    "attempts": 10_000,
    "segments": 8_000,
    "items": 50_000,
}

STATEMENTS = {
    "events": """INSERT INTO event (topic_id, partition, kind, "offset", appended_at, total_bytes, partition_key, key, type,
            source, subject, body)
        SELECT %(topic)s, n %% 8, 1, n / 8, statement_timestamp() - interval '1 day' + n * interval '10 ms',
            (n / 8 + 1) * 100, 'k' || n, 'e' || n, 'order.made', '/shop', 's' || n, '{"data":' || n || '}'
        FROM generate_series(0, %(events)s - 1) AS n""",
    "leases": """INSERT INTO lease (topic_id, consumer_id, id, partition, first_offset, next_offset, events, generation,
            attempt, handouts, leased_at, handed_at, visible_at, state, worker)
        SELECT c.topic_id, c.id, gen_random_uuid(), n %% 8, n / 8, n / 8 + 1, 1, 0, 1, 1, statement_timestamp(),
            statement_timestamp(), statement_timestamp() + interval '1 hour', 'leased', 'w' || n
        FROM consumer AS c
        CROSS JOIN generate_series(0, CASE c.name WHEN 'billing-7' THEN 10 ELSE 1 END * %(leases)s / 100 - 1) AS n
        WHERE c.kind = 'destination'""",
    "positions": "UPDATE cursor SET position = %(leases)s / 80 + 1",
    "holders": """UPDATE cursor SET holder = 'member-' || partition, fencing_token = 3,
            held_until = statement_timestamp() + interval '1 hour'
        FROM consumer AS c
        WHERE (c.topic_id, c.id, c.kind) = (cursor.topic_id, cursor.consumer_id, 'group')""",
    "letters": """INSERT INTO dead_letter (topic_id, consumer_id, id, partition, "offset", state, lease_id, handouts, deaths,
            fingerprint, error, first_at, last_at, body)
        SELECT c.topic_id, c.id, gen_random_uuid(), n %% 8, n / 8, 'dead', gen_random_uuid(), 5, 1,
            lpad(to_hex(n %% 5), 16, '0'), 'ValueError: number ' || n, statement_timestamp(), statement_timestamp(),
            '{"id":"x","data":"' || repeat('x', 300) || '"}'
        FROM consumer AS c CROSS JOIN generate_series(0, %(letters)s / 100 - 1) AS n WHERE c.kind = 'destination'""",
    "samples": """INSERT INTO lag_sample (topic_id, consumer_id, at, lag_events, lag_seconds, in_flight, waiting, head,
            settled)
        SELECT c.topic_id, c.id, statement_timestamp() - n * interval '15 s', n, n, 10, 0, 100000 - n, 90000 - n
        FROM consumer AS c CROSS JOIN generate_series(0, 239) AS n WHERE c.kind = 'destination'""",
    "workers": """INSERT INTO worker_seen (topic_id, consumer_id, worker, seen_at)
        SELECT c.topic_id, c.id, 'w' || n, statement_timestamp() - n * interval '1 s'
        FROM consumer AS c CROSS JOIN generate_series(0, 199) AS n WHERE c.kind = 'destination'""",
    "sums": """INSERT INTO overview_sample
        SELECT statement_timestamp() - n * interval '15 s', 100000 - n, 90000 - n, n, 0, 0, n, 0, 0
        FROM generate_series(0, 7 * 5760) AS n""",
    "queue events": """INSERT INTO queue_event (queue_id, id, state, priority, scheduled_at, due_at, died_at, leased_by,
            lease_token, enqueued_at, error, payload)
        SELECT CASE n %% 2 WHEN 0 THEN %(queue)s ELSE (SELECT min(id) FROM queue) + n / 2 %% 20 END, gen_random_uuid(),
            made.state, 0, statement_timestamp(),
            CASE WHEN made.state IN ('waiting', 'leased') THEN statement_timestamp() + n %% 3600 * interval '1 s' END,
            CASE WHEN made.state = 'dead' THEN statement_timestamp() END,
            CASE WHEN made.state = 'leased' THEN 'w' || n END, CASE WHEN made.state = 'leased' THEN gen_random_uuid() END,
            statement_timestamp(), CASE WHEN made.state = 'dead' THEN 'SMTP ' || n END, '{"n":1}'
        FROM generate_series(0, %(queued)s - 1) AS n
        CROSS JOIN LATERAL (
            SELECT (ARRAY['ready', 'ready', 'ready', 'waiting', 'leased', 'dead'])[n / 40 %% 6 + 1] AS state
        ) AS made""",
    "queue samples": """INSERT INTO queue_sample (queue_id, at, ready, scheduled, in_flight, blocked, dead, oldest_at, exact,
            settled)
        SELECT queue.id, statement_timestamp() - n * interval '15 s', 1000 + n, 5, 5, 0, 5, statement_timestamp(), true, 9
        FROM queue CROSS JOIN generate_series(0, 7 * 5760, 8) AS n""",
    "schedules": """INSERT INTO schedule (uid, queue_id, name, payload, cron, time_zone, enabled, misfire, planned_until,
            version, missed, error, created_at, updated_at)
        SELECT gen_random_uuid(), (SELECT min(id) FROM queue) + n %% 20, 'nightly-' || n, '{}', '5 4 * * *', 'Europe/Berlin',
            true, 'FIRE_ONCE', now(), 1, 0, CASE WHEN n %% 10 = 0 THEN 'no such zone' ELSE '' END, now(), now()
        FROM generate_series(0, 199) AS n""",
    "segments": """INSERT INTO segment
        SELECT %(other)s, n %% 8, n / 8 * 1000, n / 8 * 1000 + 999, now() - interval '90 days', now(), 1000, 100000, 9000,
            repeat('0', 64), 'segments/' || n, now(), NULL
        FROM generate_series(0, %(segments)s - 1) AS n""",
    "attempts": """INSERT INTO webhook_attempt
        SELECT topic_id, consumer_id, statement_timestamp() - n * interval '1 s', gen_random_uuid(), 'events', 'w-' || n, 10,
            3, 500, 'answered 500', 120, repeat('x', 300)
        FROM destination, generate_series(0, %(attempts)s - 1) AS n WHERE id = %(hook)s""",
    "trail": """INSERT INTO access_audit
        SELECT lpad(to_hex(n), 32, '0')::uuid, statement_timestamp() - (%(trail)s - n) * interval '1 s', 'events', 'user',
            '1', 'ana', 'pause', 'destination', '', 'billing-' || n %% 100, '{"paused": false}', '{"paused": true}',
            'night ' || n, 'r-' || n
        FROM generate_series(0, %(trail)s - 1) AS n""",
    "keys": """INSERT INTO access_api_key (uid, name, prefix, digest, grants, created_at)
        SELECT gen_random_uuid(), 'worker-' || n, 'p' || n, '', '[{"scope": "read:events", "patterns": ["orders.*"]}]', now()
        FROM generate_series(0, %(keys)s - 1) AS n""",
    "applications": """INSERT INTO oauth2_provider_application (client_id, redirect_uris, client_type,
            authorization_grant_type, client_secret, name, skip_authorization, created, updated, algorithm,
            post_logout_redirect_uris, hash_client_secret, allowed_origins, registration_source)
        SELECT 'client-' || n, '', 'confidential', 'client-credentials', '', 'reports-' || n, false, now(), now(), '', '',
            true, '', ''
        FROM generate_series(0, %(keys)s - 1) AS n""",
    "clients": """INSERT INTO access_oauth_client (uid, name, grants, created_at, application_id)
        SELECT gen_random_uuid(), name, '[{"scope": "read:events", "patterns": []}]', now(), id
        FROM oauth2_provider_application""",
    "channels": """INSERT INTO channel (name, last_sequence, oldest_sequence, total_bytes, last_log, created_at,
            published_at, kind_id)
        SELECT 'job:' || n, 50, 1, 0, 0, now(), now(), (SELECT min(id) FROM channel_kind)
        FROM generate_series(0, %(channels)s - 1) AS n""",
    "channel events": """INSERT INTO channel_event
        SELECT id, n, now(), n * 10, 'e' || n, 'job.progress', '{"percent":' || n || '}'
        FROM channel CROSS JOIN generate_series(1, 50) AS n""",
    "documents": """INSERT INTO channel_document
        SELECT id, 'job', 'd' || n, 50, '{"state":"running"}' FROM channel CROSS JOIN generate_series(1, 5) AS n""",
    "grants": """INSERT INTO channel_grant
        SELECT gen_random_uuid(), 'user-' || n, 'api', now(), now() + interval '1 hour'
        FROM generate_series(1, %(channels)s) AS n""",
    "granted": """INSERT INTO channel_grant_channel (grant_id, channel)
        SELECT id, 'job:' || row_number() OVER () / 100 FROM channel_grant""",
    "bulks": """INSERT INTO bulk
        SELECT lpad(to_hex(n), 32, '0')::uuid, 'redrive', 'dead-letters', 'events', '{"name": "billing-1"}', 'night', NULL,
            'user', '1', 'ana', 'done', %(items)s, %(items)s, 0, 0, now(), now()
        FROM generate_series(0, 199) AS n""",
    "items": """INSERT INTO bulk_item (bulk_id, n, home, target, state, note)
        SELECT (SELECT id FROM bulk ORDER BY id LIMIT 1), n, (SELECT uid FROM destination LIMIT 1), gen_random_uuid(),
            CASE WHEN n %% 5 = 0 THEN 'skipped' ELSE 'done' END, ''
        FROM generate_series(1, %(items)s) AS n""",
}

# What the paths name, beside what `fill` made itself.
NAMED = {
    "lease": "SELECT l.id FROM lease AS l JOIN destination AS d USING (topic_id, consumer_id) WHERE d.id = {destination}"
    " LIMIT 1",
    "letter": "SELECT l.id FROM dead_letter AS l JOIN destination AS d USING (topic_id, consumer_id)"
    " WHERE d.id = {destination} LIMIT 1",
    "dead": "SELECT id FROM queue_event WHERE queue_id = {queue} AND state = 'dead' LIMIT 1",
    "schedule": "SELECT id FROM schedule LIMIT 1",
    "group": "SELECT id FROM consumer_group LIMIT 1",
    "channel": "SELECT id FROM channel WHERE name = 'job:7'",
    "grant": "SELECT grant_id FROM channel_grant_channel WHERE channel = 'job:7' LIMIT 1",
    "kind": "SELECT id FROM channel_kind LIMIT 1",
    "bulk": "SELECT id FROM bulk ORDER BY id LIMIT 1",
    "entry": "SELECT id FROM access_audit LIMIT 1",
    "key": "SELECT id FROM access_api_key LIMIT 1",
    "client": "SELECT id FROM access_oauth_client LIMIT 1",
}


def fill(url: str) -> dict[str, Any]:
    """Gives what the paths of the pages name."""
    world, queues = importlib.import_module("tests.console.world"), importlib.import_module("apps.queues.models").Queue
    orders, other = (world.topic(partitions=PARTITIONS, name=name) for name in ("orders", "orders-of-long-ago"))
    destinations = [world.destination(orders, f"billing-{number}") for number in range(DESTINATIONS)]
    for number in range(DESTINATIONS):
        world.group(orders, f"readers-{number}")
    made = [queues.objects.create(name=f"mails-{number}") for number in range(QUEUES)]
    names = {"topic": orders.pk, "other": other.pk, "destination": destinations[7].pk, "hook": destinations[8].pk}
    names |= {"queue": made[3].pk, "fingerprint": "0" * 16}
    target = {"webhook": {"url": "https://billing.example.com/hooks", "timeoutSeconds": 5, "maxBatchSize": 100}}
    type(destinations[8]).objects.filter(pk=names["hook"]).update(type="WEBHOOK", settings=target)
    with psycopg.connect(url, autocommit=True) as connection:
        given = {**names, **{name: max(1_000, int(size * SCALE)) for name, size in SIZES.items()}}
        for statement in STATEMENTS.values():
            connection.execute(statement, given)  # type: ignore[arg-type]
        connection.execute("VACUUM ANALYZE")
        for name, text in NAMED.items():
            (names[name],) = connection.execute(text.format(**names)).fetchone()  # type: ignore[arg-type, misc]
    return names
