"""Every page of the console beside much: statements, and milliseconds of server time as the median of seven.

Server time is processor time, of the request and of its process in the database: what else the machine does hardly changes
it. Where the database runs elsewhere it is the time by the clock, which stands beside it. TOWPATH_BENCHMARK_SCALE is the
share of a million events, 100,000 leases, 100,000 dead letters and a million queue events. Files are as long as they may
be, and only held to the number of statements.
"""

import importlib
import os
import re
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks import pages_data, place

ROUNDS, MOST_QUERIES, MOST_MS = 7, 20, 300.0
# Tables that nothing may count.
COUNTED = re.compile(r'COUNT\(.* FROM "(event|lease|dead_letter|queue_event|access_audit|channel_event|bulk_item)"')

PAGES = """
/admin/
/admin/?span=24h
/admin/?span=7d
/admin/overview/live/
/admin/destinations/destination/
/admin/destinations/destination/?state=held
/admin/destinations/destination/?type__exact=WEBHOOK
/admin/destinations/destination/?topic__id__exact={topic}
/admin/destinations/destination/?q=billing-7
/admin/destinations/destination/{destination}/change/
/admin/destinations/destination/{destination}/change/?span=7d
/admin/destinations/destination/{destination}/live/
/admin/destinations/destination/{hook}/change/
/admin/destinations/destination/{hook}/test/
/admin/destinations/destination/{hook}/resend/
/admin/destinations/destination/{destination}/pause/
/admin/destinations/destination/{destination}/resume/
/admin/destinations/destination/{destination}/seek/
/admin/destinations/destination/{destination}/seek/?to=oldest
/admin/destinations/destination/{destination}/seek/?to=head
/admin/destinations/destination/{destination}/seek/?to=time&time=2026-01-01T00:00:00
/admin/destinations/destination/{destination}/seek/?to=sequence&sequence=003.00000000000000000007
/admin/destinations/destination/{destination}/leases/{lease}/expire/
/admin/destinations/destination/{destination}/leases/{lease}/extend/
/admin/destinations/destination/{destination}/leases/{lease}/park/
/admin/destinations/destination/{destination}/letters/{letter}/redrive/
/admin/cursors/group/
/admin/cursors/group/?topic__id__exact={topic}
/admin/cursors/group/{group}/change/
/admin/cursors/group/{group}/seek/
/admin/cursors/group/{group}/seek/?to=oldest
/admin/leases/
/admin/leases/?kind=group
/admin/leases/?kind=queue
/admin/leases/?worker=nobody
/admin/leases/?worker=w99
/admin/dead-letters/
/admin/dead-letters/{destination}/{fingerprint}/
/admin/dead-letters/{destination}/letters/{letter}/
/admin/dead-letters/{destination}/letters/{letter}/redrive/
/admin/dead-letters/{destination}/letters/{letter}/resubmit/
/admin/dead-letters/queues/{queue}/{dead}/resubmit/
/admin/console/bulk/
/admin/console/bulk/?state__exact=running
/admin/console/bulk/{bulk}/change/
/admin/console/bulk/{bulk}/cancel/
/admin/console/bulk/new/
/admin/console/bulk/new/?verb=redrive&objects=dead-letters
/admin/console/bulk/new/?verb=redrive&objects=dead-letters&fingerprint={fingerprint}
/admin/console/bulk/new/?verb=discard&objects=dead-letters&name=billing-7
/admin/console/bulk/new/?verb=redrive&objects=queue-dead-letters
/admin/console/bulk/new/?verb=redrive&objects=queue-dead-letters&fingerprint={fingerprint}
/admin/console/bulk/new/?verb=pause&objects=destinations
/admin/console/bulk/new/?verb=pause&objects=destinations&state=held
/admin/console/bulk/new/?verb=pause&objects=queues
/admin/queues/queue/
/admin/queues/queue/?paused=yes
/admin/queues/queue/?q=mails-3
/admin/queues/queue/{queue}/change/
/admin/queues/queue/{queue}/change/?state=waiting
/admin/queues/queue/{queue}/change/?state=leased
/admin/queues/queue/{queue}/change/?state=blocked
/admin/queues/queue/{queue}/change/?state=dead
/admin/queues/queue/{queue}/change/?span=7d
/admin/queues/queue/{queue}/events/{dead}/
/admin/queues/queue/{queue}/events/{dead}/do/redrive/
/admin/queues/queue/{queue}/do/pause/
/admin/queues/queue/{queue}/do/purge/
/admin/queues/queue/{queue}/do/delete/
/admin/queues/schedule/
/admin/queues/schedule/?enabled__exact=1
/admin/queues/schedule/{schedule}/change/
/admin/queues/schedule/{schedule}/do/run-now/
/admin/topics/topic/
/admin/topics/topic/?q=orders
/admin/topics/topic/{topic}/change/
/admin/topics/topic/{topic}/change/?partition=3
/admin/topics/topic/{topic}/change/?partition=3&start=100&type=order.*
/admin/topics/topic/{topic}/change/?partition=3&type=nothing.like.it
/admin/topics/topic/{topic}/change/?key=k77777
/admin/topics/topic/{topic}/change/?partition=3&since=2026-01-01T00:00:00
/admin/topics/topic/{other}/change/
/admin/topics/topic/{topic}/events/3/100/
/admin/topics/topic/{topic}/publish/
/admin/channels/channel/
/admin/channels/channel/?kind__id__exact={kind}
/admin/channels/channel/?q=job:77
/admin/channels/channel/{channel}/change/
/admin/channels/channel/{channel}/events/7/
/admin/channels/channel/{channel}/follow/
/admin/channels/channel/{channel}/delete/
/admin/channels/channel/{channel}/grants/{grant}/revoke/
/admin/channels/channelkind/
/admin/channels/channelkind/{kind}/change/
/admin/access/audit/
/admin/access/audit/?p=100
/admin/access/audit/?area=queues
/admin/access/audit/?kind=channel
/admin/access/audit/?q=nobody
/admin/access/audit/?q=billing-7
/admin/access/audit/{entry}/change/
/admin/access/apikey/
/admin/access/apikey/?state=revoked
/admin/access/apikey/?q=worker-77
/admin/access/apikey/add/
/admin/access/apikey/{key}/change/
/admin/access/apikey/{key}/rotate/
/admin/access/apikey/{key}/revoke/
/admin/access/oauthclient/
/admin/access/oauthclient/{client}/change/
/admin/access/oauthclient/{client}/disable/
/admin/django_celery_beat/periodictask/
/admin/auth/user/
/admin/auth/group/
/healthz
/readyz
/metrics
""".split()

FILES = """
/admin/access/audit/csv/
/admin/destinations/destination/csv/
/admin/leases/csv/
/admin/leases/csv/?kind=queue
/admin/dead-letters/csv/
/admin/dead-letters/{destination}/{fingerprint}/csv/
/admin/queues/queue/csv/
/admin/queues/queue/{queue}/events/csv/
/admin/topics/topic/csv/
/admin/topics/topic/{topic}/events/csv/?partition=3&start=0
""".split()


def main() -> None:
    with place.database() as url:
        os.environ.update(DATABASE_URL=url, DJANGO_SETTINGS_MODULE="config.settings")
        importlib.import_module("django").setup()
        report(pages_data.fill(url))
        importlib.import_module("django.db").connections.close_all()


def report(names: dict[str, Any]) -> None:
    client = logged_in()
    print(f"{'page':88} {'queries':>7} {'ms':>6} {'elapsed':>7}")
    pages = [measure(client, path.format(**names)) for path in PAGES]
    files = [measure(client, path.format(**names), float("inf"), 1) for path in FILES]
    over = sum(queries >= MOST_QUERIES or ms >= MOST_MS for queries, ms in pages)
    over += sum(queries >= MOST_QUERIES for queries, _ in files)
    measured = f"{over} of {len(pages)} pages and {len(files)} files"
    print(f"\n{measured} over {MOST_QUERIES} queries or {MOST_MS:.0f} ms, at a scale of {pages_data.SCALE}")


def logged_in() -> Any:
    person = importlib.import_module("django.contrib.auth").get_user_model().objects.create_superuser("ana")
    client = importlib.import_module("django.test").Client(headers={"host": "127.0.0.1"})
    client.force_login(person)
    return client


def measure(client: Any, path: str, most_ms: float = MOST_MS, rounds: int = ROUNDS) -> tuple[int, float]:
    with counted() as statements:
        answer = read(client, path)
    assert answer.status_code == 200 or path == "/readyz", (path, answer.status_code)
    assert not [text for text in statements if COUNTED.search(text)], path
    spent = [spend(client, path) for _ in range(rounds)]
    middle, waited, queries = (*(statistics.median(column) for column in zip(*spent, strict=True)), len(statements))
    mark = "  OVER" if queries >= MOST_QUERIES or middle >= most_ms else ""
    print(f"{path:88} {queries:7} {middle:6.0f} {waited:7.0f}{mark}", flush=True)
    return int(queries), middle


def read(client: Any, path: str) -> Any:
    answer = client.get(path)
    if answer.streaming:
        assert sum(map(len, answer.streaming_content))
    return answer


def spend(client: Any, path: str) -> tuple[float, float]:
    """Milliseconds of processor time here and in the database's process, and by the clock on the wall."""
    began, ran, there = time.perf_counter(), time.thread_time(), effort_of_database()
    read(client, path)
    wall, here = time.perf_counter() - began, time.thread_time() - ran
    spent = here + effort_of_database() - there if there else wall
    return spent * 1000, wall * 1000


def effort_of_database() -> float:
    """Seconds of processor time of this connection's process so far; 0 where it runs elsewhere."""
    connection = importlib.import_module("django.db").connection
    connection.ensure_connection()
    own = Path(f"/proc/{connection.connection.info.backend_pid}")
    try:
        if b"postgres" not in (own / "cmdline").read_bytes():
            return 0.0
        return int((own / "schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0


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
