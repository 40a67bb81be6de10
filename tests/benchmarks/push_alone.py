"""Run by push.py in a process of its own: the forwarder's work without its start, in turns with what it is compared to."""

import asyncio
import statistics
import time
from collections.abc import Callable
from ipaddress import ip_network

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection, connections  # noqa: E402

from apps.cursors.operations import Filter, Limits  # noqa: E402
from apps.destinations.forward.line import Line, lines  # noqa: E402
from apps.destinations.forward.loop import Forwarder  # noqa: E402
from apps.destinations.forward.transfer import transfer  # noqa: E402
from apps.destinations.models import Destination  # noqa: E402
from apps.destinations.operations.make import make  # noqa: E402
from apps.leases.operations.acknowledge import acknowledge  # noqa: E402
from apps.leases.operations.pull import Nothing, pull  # noqa: E402
from apps.queues.operations import queues  # noqa: E402
from apps.topics.models import Topic  # noqa: E402
from apps.topics.operations.create import create_topic  # noqa: E402
from core.ids import uuid7  # noqa: E402

ROUNDS, EVENTS, POSTED, HOPS = 5, 5_000, 1_000, 30
BATCH = 500  # as many as the forwarder leases at once

APPEND = """
    INSERT INTO event
        (topic_id, partition, kind, "offset", appended_at, total_bytes, partition_key, key, type, source, body)
    SELECT %(topic)s, at %% 4, 1, at / 4, statement_timestamp(), (at / 4 + 1) * 300, 'k', 'id-' || at, 't', '/s',
        '{"specversion":"1.0","id":"' || at || '","source":"/s","type":"t","data":"' || repeat('x', 230) || '"}'
    FROM generate_series(0, %(count)s - 1) AS at
"""

Measured = dict[str, list[float]]


def stock(count: int) -> Topic:
    create_topic(None, f"stock-{count}", 4)
    topic = Topic.objects.get(name=f"stock-{count}")
    with connection.cursor() as cursor:
        cursor.execute(APPEND, {"topic": topic.id, "count": count})
        cursor.execute("ANALYZE event")
    return topic


def destination(topic: Topic, kind: str, **target: object) -> Destination:
    settings_of = {"startAt": "oldest", **({kind.lower(): target} if target else {})}
    made = make(
        None, f"d-{uuid7()}", kind, topic.name, limits=Limits(), chosen=Filter(), start="oldest", settings=settings_of
    )
    return made.destination


def line_of(made: Destination) -> Line:
    return next(line for line in lines() if line.id == made.id)


def pulled(topic: Topic, limit: int) -> int:
    made, done = destination(topic, "DURABLE_CONSUMER"), 0
    while not isinstance(batch := pull(made.topic_id, made.consumer_id, limit=limit, worker="w"), Nothing):
        acknowledge(made.topic_id, made.consumer_id, batch.lease.id, batch.lease.generation)
        done += len(batch.events)
    return done


def transferred(made: Destination) -> int:
    line = line_of(made)
    while transfer(line) == 0:
        pass
    return EVENTS


def to_queue(topic: Topic) -> int:
    queue = queues.create(None, f"q-{uuid7()}")
    return transferred(destination(topic, "QUEUE", queue=queue.name, groupKey=None))


def to_channel(topic: Topic) -> int:
    return transferred(destination(topic, "CHANNEL", channel=f"job:{uuid7()}"))


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: list[float]) -> None:
    """204 to everything, as fast as this process can."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            seen.append(time.perf_counter())
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    except asyncio.IncompleteReadError:
        writer.close()


async def posted(topic: Topic, batch: bool) -> int:
    """Through a whole forwarder, in this process and on this loop with the endpoint: half of the time is the endpoint's."""
    seen: list[float] = []
    server = await asyncio.start_server(lambda reader, writer: answer(reader, writer, seen), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    target = {"url": f"http://127.0.0.1:{port}/", "batch": batch, "timeoutSeconds": 15, "concurrency": 8, "rate": None}
    made = await asyncio.to_thread(_made, topic, target)
    forwarder = Forwarder(4)
    running = asyncio.create_task(forwarder.run())
    wanted = POSTED // 4 // 100 * 4 if batch else POSTED
    while len(seen) < wanted:
        await asyncio.sleep(0.002)
    forwarder.stop()
    await running
    server.close()
    await asyncio.to_thread(_gone, made)
    return POSTED


def _made(topic: Topic, target: dict[str, object]) -> Destination:
    try:
        return destination(topic, "WEBHOOK", **target)
    finally:
        connections.close_all()


def _gone(made: Destination) -> None:
    made.delete()
    connections.close_all()


def measure(name: str, work: Callable[[], int], found: Measured) -> None:
    began = time.perf_counter()
    done = work()
    found.setdefault(name, []).append(done / (time.perf_counter() - began))


def main() -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    topic, few = stock(EVENTS), stock(POSTED)
    found: Measured = {}
    for _ in range(ROUNDS):
        measure("pull + acknowledge by 500", lambda: pulled(topic, BATCH), found)
        measure("pull + acknowledge by 100", lambda: pulled(topic, 100), found)
        measure("to a queue", lambda: to_queue(topic), found)
        measure("to a channel", lambda: to_channel(topic), found)
        measure("to an endpoint, one by one", lambda: asyncio.run(posted(few, batch=False)), found)
        measure("to an endpoint, by 100", lambda: asyncio.run(posted(few, batch=True)), found)
    base = statistics.median(found["pull + acknowledge by 100"])
    print("| | events a second (median; lowest-highest) | ratio |\n|---|---|---|")
    for name, rates in found.items():
        middle = statistics.median(rates)
        print(f"| {name} | {middle:,.0f} ({min(rates):,.0f}-{max(rates):,.0f}) | {middle / base:.2f} |")
    print(f"\na hop to a queue (one event, leased, transferred, acknowledged): {hop():.2f} ms (median of {HOPS})")


def hop() -> float:
    create_topic(None, "hops", 1)
    topic = Topic.objects.get(name="hops")
    queue = queues.create(None, "hops")
    line = line_of(destination(topic, "QUEUE", queue=queue.name, groupKey=None))
    times = []
    for number in range(HOPS):
        with connection.cursor() as cursor:
            cursor.execute(APPEND.replace("at / 4,", f"{number},"), {"topic": topic.id, "count": 1})
        began = time.perf_counter()
        transfer(line)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


if __name__ == "__main__":
    main()
