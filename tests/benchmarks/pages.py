"""Every page of the console beside much: statements and milliseconds of server time, the median of seven.

TOWPATH_BENCHMARK_SCALE is the share of a million events, 100,000 leases, 100,000 dead letters and a million queue events.
"""

import importlib
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from tests.benchmarks import place

SCALE = float(os.environ.get("TOWPATH_BENCHMARK_SCALE", "0.02"))
ROUNDS, MOST_QUERIES, MOST_MS = 7, 20, 300.0
DESTINATIONS, QUEUES, PARTITIONS = 100, 20, 8

PAGES = """
/admin/
/admin/?span=24h
/admin/?span=7d
/admin/destinations/destination/
/admin/destinations/destination/?state=held
/admin/destinations/destination/{destination}/change/
/admin/destinations/destination/{destination}/change/?span=7d
/admin/destinations/destination/{destination}/pause/
/admin/destinations/destination/{destination}/seek/
/admin/destinations/destination/{destination}/seek/?to=oldest
/admin/destinations/destination/{destination}/seek/?to=time&time=2026-01-01T00:00:00
/admin/leases/
/admin/leases/?kind=queue
/admin/leases/?worker=nobody
/admin/dead-letters/
/admin/dead-letters/{destination}/{fingerprint}/
/admin/console/bulk/
/admin/console/bulk/new/?verb=redrive&objects=dead-letters
/admin/console/bulk/new/?verb=pause&objects=destinations
/admin/queues/queue/
/admin/queues/queue/{queue}/change/
/admin/queues/queue/{queue}/change/?state=waiting
/admin/queues/schedule/
/admin/topics/topic/
/admin/topics/topic/{topic}/change/
/admin/topics/topic/{topic}/change/?partition=3&start=100&type=order.*
/admin/topics/topic/{topic}/publish/
/admin/access/audit/
/admin/access/apikey/
""".split()

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
        FROM consumer AS c CROSS JOIN generate_series(0, %(leases)s / 100 - 1) AS n""",
    "positions": "UPDATE cursor SET position = %(leases)s / 800 + 1",
    "letters": """INSERT INTO dead_letter (topic_id, consumer_id, id, partition, "offset", state, lease_id, handouts, deaths,
            fingerprint, error, first_at, last_at, body)
        SELECT c.topic_id, c.id, gen_random_uuid(), n %% 8, n / 8, 'dead', gen_random_uuid(), 5, 1,
            lpad(to_hex(n %% 5), 16, '0'), 'ValueError: number ' || n, statement_timestamp(), statement_timestamp(),
            '{"id":"x","data":"' || repeat('x', 300) || '"}'
        FROM consumer AS c CROSS JOIN generate_series(0, %(letters)s / 100 - 1) AS n""",
    "samples": """INSERT INTO lag_sample (topic_id, consumer_id, at, lag_events, lag_seconds, in_flight, waiting, head,
            settled)
        SELECT c.topic_id, c.id, statement_timestamp() - n * interval '15 s', n, n, 10, 0, 100000 - n, 90000 - n
        FROM consumer AS c CROSS JOIN generate_series(0, 239) AS n""",
    "sums": """INSERT INTO overview_sample
        SELECT statement_timestamp() - n * interval '15 s', 100000 - n, 90000 - n, n, 0, 0, n, 0, 0
        FROM generate_series(0, 7 * 5760) AS n""",
    "queue events": """INSERT INTO queue_event (queue_id, id, state, priority, scheduled_at, due_at, died_at, leased_by,
            lease_token, enqueued_at, error, payload)
        SELECT (SELECT min(id) FROM queue) + n %% 20, gen_random_uuid(), made.state, 0, statement_timestamp(),
            CASE WHEN made.state IN ('waiting', 'leased') THEN statement_timestamp() + n %% 3600 * interval '1 s' END,
            CASE WHEN made.state = 'dead' THEN statement_timestamp() END,
            CASE WHEN made.state = 'leased' THEN 'w' || n END, CASE WHEN made.state = 'leased' THEN gen_random_uuid() END,
            statement_timestamp(), CASE WHEN made.state = 'dead' THEN 'SMTP ' || n END, '{"n":1}'
        FROM generate_series(0, %(queued)s - 1) AS n
        CROSS JOIN LATERAL (
            SELECT (ARRAY['ready', 'ready', 'ready', 'waiting', 'leased', 'dead'])[n %% 6 + 1] AS state
        ) AS made""",
}


def main() -> None:
    with place.database() as url:
        os.environ.update(DATABASE_URL=url, DJANGO_SETTINGS_MODULE="config.settings")
        importlib.import_module("django").setup()
        names = fill(importlib.import_module("tests.console.world"), url)
        client = logged_in()
        print(f"{'page':75} {'queries':>7} {'ms':>6} {'best':>6}")
        worst = [measure(client, path.format(**names)) for path in PAGES]
        over = sum(queries >= MOST_QUERIES or ms >= MOST_MS for queries, ms in worst)
        print(f"\n{over} of {len(worst)} pages over {MOST_QUERIES} queries or {MOST_MS:.0f} ms, at a scale of {SCALE}")
        importlib.import_module("django.db").connections.close_all()


def fill(world: Any, url: str) -> dict[str, Any]:
    topic = world.topic(partitions=PARTITIONS, name="orders")
    destinations = [world.destination(topic, f"billing-{number}") for number in range(DESTINATIONS)]
    queues = importlib.import_module("apps.queues.models").Queue.objects
    made = [queues.create(name=f"mails-{number}") for number in range(QUEUES)]
    for queue in made:
        world.queue_sample(queue, 5, ready=1000, dead=5)
    sizes = {"events": 1_000_000, "leases": 100_000, "letters": 100_000, "queued": 1_000_000}
    given = {"topic": topic.pk, **{name: max(1_000, int(size * SCALE)) for name, size in sizes.items()}}
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in STATEMENTS.values():
            connection.execute(statement, given)  # type: ignore[arg-type]
        connection.execute("VACUUM ANALYZE")
    fingerprint = "0" * 16
    return {"topic": topic.pk, "destination": destinations[7].pk, "queue": made[3].pk, "fingerprint": fingerprint}


def logged_in() -> Any:
    person = importlib.import_module("django.contrib.auth").get_user_model().objects.create_superuser("ana")
    client = importlib.import_module("django.test").Client(headers={"host": "127.0.0.1"})
    client.force_login(person)
    return client


def measure(client: Any, path: str) -> tuple[int, float]:
    with counted() as queries:
        answer = client.get(path)
    assert answer.status_code == 200, (path, answer.status_code)
    spent = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        client.get(path)
        spent.append((time.perf_counter() - began) * 1000)
    middle = statistics.median(spent)
    mark = "  OVER" if len(queries) >= MOST_QUERIES or middle >= MOST_MS else ""
    print(f"{path:75} {len(queries):7} {middle:6.0f} {min(spent):6.0f}{mark}", flush=True)
    return len(queries), middle


@contextmanager
def counted() -> Iterator[list[str]]:
    """Statements of the ORM and of .sql files, which Django does not see."""
    sql, connection = importlib.import_module("core.sql"), importlib.import_module("django.db").connection
    seen: list[str] = []
    run = sql._run
    sql._run = lambda calls: seen.extend(call[0].path.name for call in calls) or run(calls)

    def note(execute: Any, text: str, *rest: Any) -> Any:
        seen.append(text)
        return execute(text, *rest)

    with connection.execute_wrapper(note):
        yield seen
    sql._run = run
