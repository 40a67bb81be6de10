"""Claims beside many ready events, beside many delayed ones of a higher priority, and under an old snapshot: SQL alone.

Beside the rate stands the processor time that the database took for it, which what else the machine does hardly changes.
"""

import importlib
import os
import statistics
import time
from pathlib import Path
from typing import Any

import psycopg

from tests.benchmarks import place, rivals

DEEP = int(os.environ.get("TOWPATH_BENCHMARK_DEPTH", "200000"))
# Short rounds, many of them: so what else the machine does falls on all alike.
CYCLES, ROUNDS = 60, 25

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
    found: dict[str, list[tuple[float, float]]] = {title: [] for title in queues}
    for _ in range(ROUNDS):
        for title, queue in queues.items():
            found[title].append(cycles(driver, queue, CYCLES))
    first = medians(next(iter(found.values())))
    for title, rounds in found.items():
        rate, effort = medians(rounds)
        spread = f"({min(rounds)[0]:,.0f}-{max(rounds)[0]:,.0f})"
        processor = f"database {effort:5.0f} µs each {effort / max(first[1], 1e-9):4.2f}"
        print(f"{title:45} {rate:7,.0f}  {rate / first[0]:4.2f}  {spread:15}  {processor}", flush=True)


def medians(rounds: list[tuple[float, float]]) -> tuple[float, float]:
    rate, effort = (statistics.median(part) for part in zip(*rounds, strict=True))
    return rate, effort


def cycles(driver: Any, queue: Any, count: int) -> tuple[float, float]:
    """Each takes one and puts one back, so that the depth stays as it is: takes a second, and the database's µs for one."""
    driver._queue = queue
    for _ in range(10):
        driver.enqueue(1)
    spent = effort = 0.0
    for _ in range(count):
        driver.enqueue(1)
        before, began = processor_time(), time.perf_counter()
        assert driver.take(1) == 1
        spent += time.perf_counter() - began
        effort += processor_time() - before
    while queue.name == "shallow" and driver._claim.claim(queue, limit=100):
        pass
    return count / spent, effort / count


def processor_time() -> float:
    """Microseconds of the process that serves this connection; 0 where it is not on this machine."""
    connection = importlib.import_module("django.db").connection
    try:
        return int(Path(f"/proc/{connection.connection.info.backend_pid}/schedstat").read_text().split()[0]) / 1000
    except OSError:
        return 0.0


def churn(driver: Any, queue: Any, url: str, connection: Any) -> None:
    """What an old snapshot costs: nothing dead can be removed while it is open."""
    print("\nthe same queue while a transaction stays open (dead rows cannot be removed)\n")
    with psycopg.connect(url) as old:
        old.execute("SET idle_in_transaction_session_timeout = 0")
        old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        old.execute("SELECT count(*) FROM queue")
        for done in range(0, 5):
            print(f"after {done * 2000:6,} cycles  {shown(cycles(driver, queue, 300))}", flush=True)
            for _ in range(17):
                driver.enqueue(100)
                driver.take(100)
    connection.execute("VACUUM queue_event")
    print(f"after its end          {shown(cycles(driver, queue, 300))}")


def shown(found: tuple[float, float]) -> str:
    return f"{found[0]:7,.0f} a second, database {found[1]:5.0f} µs each"
