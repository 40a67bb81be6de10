"""Append, pull and acknowledge as the API calls them, in threads of one process, without HTTP or the parsing of bodies."""

import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from uuid import uuid4

import django

django.setup()

from django.db import connection  # noqa: E402

from apps.cursors.operations.consumers import create_consumer  # noqa: E402
from apps.leases.operations.acknowledge import acknowledge  # noqa: E402
from apps.leases.operations.pull import Batch, pull  # noqa: E402
from apps.topics.items import EVENT, Item, key_hash  # noqa: E402
from apps.topics.operations.append import append  # noqa: E402
from apps.topics.operations.create import topic_for_use  # noqa: E402

ROUNDS, SECONDS, STOCK = 5, 0.6, 100_000
numbers = count()
Work = Callable[[int], int]


def item(number: int) -> Item:
    envelope = {"specversion": "1.0", "id": str(number), "source": "/bench", "type": "order.made"}
    body = json.dumps({**envelope, "subject": f"sku-{number % 97}", "data": {"text": "x" * 170, "n": number}})
    identifier = str(number)
    hashed = key_hash("/bench", identifier)
    return (
        f"sku-{number % 97}",
        identifier,
        hashed,
        EVENT,
        len(body) + 40,
        "order.made",
        "/bench",
        f"sku-{number % 97}",
        body,
    )


def appending(many: int) -> Work:
    def work(worker: int) -> int:
        append("alone", [item(next(numbers)) for _ in range(many)])
        return many

    return work


def consuming() -> Work:
    """Batches of 100 of one consumer; whoever finds nothing more makes the next, at the oldest event."""
    topic, lock, current = topic_for_use("stock"), threading.Lock(), [0]

    def renew(seen: int) -> None:
        with lock:
            if current[0] == seen:
                current[0] = create_consumer(topic.id, "destination", uuid4().hex, start="oldest")

    def work(worker: int) -> int:
        consumer = current[0]
        batch = pull(topic.id, consumer, limit=100, worker=str(worker)) if consumer else None
        if not isinstance(batch, Batch):
            renew(consumer)
            return 0
        acknowledge(topic.id, consumer, batch.lease.id, batch.lease.generation)
        return len(batch.events)

    return work


def rate(work: Work, threads: int) -> float:
    """Units a second of all threads together."""
    units, until = [0] * threads, time.perf_counter() + SECONDS

    def loop(index: int) -> None:
        while time.perf_counter() < until:
            units[index] += work(index)
        connection.close()

    began = time.perf_counter()
    started = [threading.Thread(target=loop, args=(index,)) for index in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return sum(units) / (time.perf_counter() - began)


def lines() -> Iterator[tuple[str, Work, int]]:
    yield "append by 1, 16 threads", appending(1), 16
    yield "append by 100, 1 thread", appending(100), 1
    yield "append by 100, 8 threads", appending(100), 8
    yield "pull + acknowledge by 100, 1 thread", consuming(), 1
    yield "pull + acknowledge by 100, 8 threads", consuming(), 8


def main() -> None:
    for _ in range(STOCK // 1000):
        append("stock", [item(next(numbers)) for _ in range(1000)])
    measured = [(name, work, threads, list[float]()) for name, work, threads in lines()]
    for turn in range(ROUNDS + 1):
        for _, work, threads, rates in measured:
            found = rate(work, threads)
            if turn:  # the first is for plans and caches
                rates.append(found)
    for name, _, _, rates in measured:
        print(f"{name}: {statistics.median(rates):,.0f} ({min(rates):,.0f}-{max(rates):,.0f})")


if __name__ == "__main__":
    main()
