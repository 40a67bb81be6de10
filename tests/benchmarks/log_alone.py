"""What log.py measures, in one process without HTTP: A and B take turns, medians and spread are printed."""

import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from itertools import count

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from apps.topics.items import EVENT, Item, key_hash  # noqa: E402
from apps.topics.models import Topic  # noqa: E402
from apps.topics.operations import spill  # noqa: E402
from apps.topics.operations.append import append  # noqa: E402
from apps.topics.operations.create import create_topic  # noqa: E402
from apps.topics.selectors.log import page  # noqa: E402
from apps.topics.selectors.resolve import fresh_topic  # noqa: E402

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


def main() -> None:
    settings.TOWPATH["COLD_URL"] = f"file://{sys.argv[1]}"
    for name in ("full", "empty", "read", "trimmed"):
        create_topic(None, name)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(FILL, [fresh_topic("full").id, EVENTS])
        cursor.execute(FILL, [fresh_topic("read").id, 80_000])
        cursor.execute("VACUUM ANALYZE event")
    print(f"events a second, medians of {ROUNDS}")
    compare(f"append, {EVENTS:,} events in the table / empty", lambda: rate(appends("full")), lambda: rate(appends("empty")))
    Topic.objects.filter(name="trimmed").update(hot_records=1)
    compare("trim / append", trim(Topic.objects.get(name="trimmed")), lambda: rate(appends("empty")))
    Topic.objects.filter(name="read").update(hot_records=4_000)
    spill.sweep_topic(Topic.objects.get(name="read"))
    print("pages of 100 a second at a random offset")
    compare("cold / hot", lambda: rate(pages("read", 0, 5_000)), lambda: rate(pages("read", 6_000, 9_900)))


if __name__ == "__main__":
    main()
