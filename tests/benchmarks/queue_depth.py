"""Claims beside many ready events, beside many delayed ones of a higher priority, and under an old snapshot: SQL alone."""

import importlib
import os
import statistics
import time
from typing import Any

import psycopg

from tests.benchmarks import place, rivals

DEEP = int(os.environ.get("TOWPATH_BENCHMARK_DEPTH", "200000"))
CYCLES, ROUNDS = 200, 7

FILL = """INSERT INTO queue_event (queue_id, id, state, priority, scheduled_at, due_at, enqueued_at, payload)
    SELECT (SELECT id FROM queue WHERE name = %s), gen_random_uuid(), %s, %s, statement_timestamp(),
        CASE WHEN %s = 'waiting' THEN statement_timestamp() + interval '1 day' END, statement_timestamp(), %s
    FROM generate_series(1, %s)"""


def main() -> None:
    with place.database() as url:
        rivals.Towpath.install(url)
        driver = rivals.Towpath(url)
        operations = importlib.import_module("apps.queues.operations.queues")
        selectors = importlib.import_module("apps.queues.selectors")
        queues = {}
        for name in ("shallow", "deep", "delayed"):
            operations.create(None, name)
            queues[name] = selectors.find_queue(name)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(FILL, ("deep", "ready", 0, "ready", rivals.PAYLOAD, DEEP))
            connection.execute(FILL, ("delayed", "waiting", 100, "waiting", rivals.PAYLOAD, DEEP))
            connection.execute("VACUUM ANALYZE queue_event")
            print(f"claim + ack by one client, a second: medians of {ROUNDS}, interleaved\n")
            titles = {"shallow": "10 ready", "deep": f"{DEEP:,} ready", "delayed": f"10 ready, {DEEP:,} delayed before them"}
            report(driver, {titles[name]: queue for name, queue in queues.items()})
            churn(driver, queues["shallow"], url, connection)
        driver.close()


def report(driver: Any, queues: dict[str, Any]) -> None:
    rates: dict[str, list[float]] = {title: [] for title in queues}
    for _ in range(ROUNDS):
        for title, queue in queues.items():
            rates[title].append(cycles(driver, queue, CYCLES))
    first = statistics.median(next(iter(rates.values())))
    for title, found in rates.items():
        middle = statistics.median(found)
        print(f"{title:45} {middle:7,.0f}  {middle / first:4.2f}  ({min(found):,.0f}-{max(found):,.0f})", flush=True)


def cycles(driver: Any, queue: Any, count: int) -> float:
    """Each takes one and puts one back, so that the depth stays as it is."""
    driver._queue = queue
    for _ in range(10):
        driver.enqueue(1)
    spent = 0.0
    for _ in range(count):
        driver.enqueue(1)
        began = time.perf_counter()
        assert driver.take(1) == 1
        spent += time.perf_counter() - began
    while len(driver._claim.claim(queue, limit=100)) and queue.name == "shallow":
        pass
    return count / spent


def churn(driver: Any, queue: Any, url: str, connection: Any) -> None:
    """What an old snapshot costs: nothing dead can be removed while it is open."""
    print("\nthe same queue while a transaction stays open (dead rows cannot be removed)\n")
    with psycopg.connect(url) as old:
        old.execute("SET idle_in_transaction_session_timeout = 0")
        old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        old.execute("SELECT count(*) FROM queue")
        for done in range(0, 5):
            print(f"after {done * 2000:6,} cycles  {cycles(driver, queue, 300):7,.0f} a second", flush=True)
            for _ in range(17):
                driver.enqueue(100)
                driver.take(100)
    connection.execute("VACUUM queue_event")
    print(f"after its end          {cycles(driver, queue, 300):7,.0f} a second")
