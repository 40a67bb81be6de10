"""What log.py measures, in one process without HTTP: A and B take turns, medians and spread are printed."""

import os
import random
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from apps.topics.items import EVENT, Item, key_hash  # noqa: E402
from apps.topics.models import Topic  # noqa: E402
from apps.topics.operations import merge, spill  # noqa: E402
from apps.topics.operations.append import append  # noqa: E402
from apps.topics.operations.create import create_topic  # noqa: E402
from apps.topics.selectors.log import page  # noqa: E402
from apps.topics.selectors.resolve import fresh_topic  # noqa: E402
from apps.topics.transfer import write_history  # noqa: E402

ROUNDS = 7
EVENTS = int(os.environ.get("TOWPATH_BENCHMARK_EVENTS", "300000"))
"""In the full table; 10,000,000 by hand."""
FILL = """
    INSERT INTO event
    (topic_id, partition, kind, "offset", appended_at, total_bytes, partition_key, key, type, source, subject, body)
    SELECT %s, at %% 8, 1, at / 8, statement_timestamp(), (at / 8 + 1) * 300, 'k', 'f' || at, 'order.made', '/bench', 'k',
        '{"id":"f' || at || '","data":"' || repeat('x', 200) || '"}'
    FROM generate_series(0, %s - 1) AS at
"""
numbers = count()


def batch(many: int = 100) -> list[Item]:
    return [_item(next(numbers)) for _ in range(many)]


def _item(number: int) -> Item:
    body = f'{{"specversion":"1.0","id":"{number}","source":"/bench","type":"order.made","data":"{"x" * 200}"}}'
    hashed = key_hash("/bench", str(number))
    return (f"k{number % 97}", str(number), hashed, EVENT, len(body) + 40, "order.made", "/bench", None, body)


def rate(work: Callable[[], int]) -> float:
    began = time.perf_counter()
    return work() / (time.perf_counter() - began)


def appends(topic: str) -> Callable[[], int]:
    batches = [batch() for _ in range(30)]
    return lambda: sum(len(append(topic, each).partitions) for each in batches)


def pages(topic: str, low: int, high: int) -> Callable[[], int]:
    ref = fresh_topic(topic)
    return lambda: sum(len(page(ref, 0, random.randrange(low, high), 100).events) > 0 for _ in range(30))


def compare(name: str, first: Callable[[], float], second: Callable[[], float]) -> None:
    taken = [(first(), second()) for _ in range(ROUNDS)]
    a, b = (statistics.median(each) for each in zip(*taken, strict=True))
    spread = [f"{min(each):,.0f}…{max(each):,.0f}" for each in zip(*taken, strict=True)]
    print(f"{name:<46} {a:>10,.0f} {b:>10,.0f}  ratio {a / b:.2f}   ({spread[0]} / {spread[1]})")


def trim(topic: Topic) -> Callable[[], float]:
    def work() -> float:
        name = topic.name
        for _ in range(100):
            append(name, batch())
        return rate(lambda: spill.sweep_topic(topic))

    return work


def split(topic: Topic) -> None:
    """Cuts what is cold of it into segments of a hundred events, as sweeps by age leave them."""
    topic.hot_records, topic.hot_seconds = 1, 10**8
    spill.MAX_RECORDS, whole = 100, spill.MAX_RECORDS
    while spill.sweep_topic(topic):
        pass
    spill.MAX_RECORDS = whole
    with connection.cursor() as cursor:
        back = "spilled_at = spilled_at - interval '2 days', first_at = first_at - interval '2 days'"
        cursor.execute(f"UPDATE segment SET {back}, last_at = last_at - interval '2 days' WHERE topic_id = %s", [topic.id])


def merging(topic: Topic) -> Callable[[], int]:
    """How many events that puts into larger segments."""

    def work() -> int:
        merge.merge_topic(topic)
        with connection.cursor() as cursor:
            cursor.execute("SELECT coalesce(sum(records), 0) FROM segment WHERE topic_id = %s AND records > 100", [topic.id])
            return int(cursor.fetchone()[0])

    return work


def beside(work: Callable[[], float], other: Callable[[], object]) -> Callable[[], float]:
    """The work while a thread does the other over and over."""

    def both() -> float:
        stop = threading.Event()

        def repeat() -> None:
            while not stop.is_set():
                other()
            connection.close()

        thread = threading.Thread(target=repeat)
        thread.start()
        try:
            return work()
        finally:
            stop.set()
            thread.join()

    return both


def peak(work: str) -> None:
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'largest memory so far, MB, after ' + work:<46} {largest:>10,.0f}")


def main() -> None:
    settings.TOWPATH["COLD_URL"] = f"file://{sys.argv[1]}"
    for name in ("full", "empty", "read", "trimmed", "slow"):
        create_topic(None, name)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(FILL, [fresh_topic("full").id, EVENTS])
        cursor.execute(FILL, [fresh_topic("read").id, 80_000])
        cursor.execute(FILL, [fresh_topic("slow").id, 80_000])
        cursor.execute("VACUUM ANALYZE event")
    print(f"events a second, medians of {ROUNDS}")
    compare(f"append, {EVENTS:,} events in the table / empty", lambda: rate(appends("full")), lambda: rate(appends("empty")))
    Topic.objects.filter(name="trimmed").update(hot_records=1)
    compare("trim / append", trim(Topic.objects.get(name="trimmed")), lambda: rate(appends("empty")))
    trimmed, slow = Topic.objects.get(name="trimmed"), Topic.objects.get(name="slow")
    peak("sweeps")
    write_history(fresh_topic("full"), Path(sys.argv[1]) / "full.jsonl.zst", lambda done, total: None)
    peak("an export of the full table")
    split(slow)
    window = merge._found(slow)[0]
    print(f"{'merge, segments of 100':<46} {rate(merging(slow)):>10,.0f}")
    peak("merging")
    compare("trim beside merging / alone", beside(trim(trimmed), lambda: merge.put(slow, window)), trim(trimmed))
    Topic.objects.filter(name="read").update(hot_records=4_000)
    spill.sweep_topic(Topic.objects.get(name="read"))
    print("pages of 100 a second at a random offset")
    compare("cold / hot", lambda: rate(pages("read", 0, 5_000)), lambda: rate(pages("read", 6_000, 9_900)))


if __name__ == "__main__":
    main()
