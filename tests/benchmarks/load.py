"""Load from processes of its own for a bounded time, measured side by side: A, B, A, B …, medians of all rounds.

A workload is a module-level function `work(client, number, **arguments) -> int`: one call, answering how many units it did.
`number` tells the clients apart. It runs in a loop in each client until the time is over.
"""

import multiprocessing
import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.benchmarks.client import Client

PROCESSES = 2
Work = Callable[..., int]


@dataclass(frozen=True)
class Load:
    name: str
    work: Work
    server: tuple[int, int, str]
    """Port, pid and database: Server.place."""
    token: str | None = None
    clients: int = 16
    arguments: dict[str, Any] = field(default_factory=dict)
    unit: str = "requests"


@dataclass(frozen=True)
class Round:
    """What one process of clients, or all of them together, did."""

    units: int
    rate: float
    latencies: list[float]
    """Seconds of each call."""
    effort: float = 0.0
    """Seconds of processor time that the server took in all: what else the machine does hardly changes it."""
    database_effort: float = 0.0
    """The same of the database's processes that worked for it; 0 where they are on another machine."""


def run(load: Load, seconds: float) -> Round:
    # fork: no thread runs here yet, and each round would otherwise begin with importing all this again.
    context = multiprocessing.get_context("fork")
    processes = min(PROCESSES, load.clients)
    barrier, results = context.Barrier(processes + 1), context.SimpleQueue()
    shares = [range(index, load.clients, processes) for index in range(processes)]
    started = [
        context.Process(target=_process, args=(load, share, seconds, barrier, results), daemon=True) for share in shares
    ]
    for process in started:
        process.start()
    before = efforts(load.server)
    barrier.wait(60)
    outcomes = [results.get() for _ in started]
    taken = [now - then for now, then in zip(efforts(load.server), before, strict=True)]
    for process in started:
        process.join()
    return _together(outcomes, *taken)


def _together(outcomes: list[Round | str], effort: float, database_effort: float) -> Round:
    rounds = [outcome for outcome in outcomes if isinstance(outcome, Round)]
    assert len(rounds) == len(outcomes), [outcome for outcome in outcomes if isinstance(outcome, str)]
    latencies = [latency for each in rounds for latency in each.latencies]
    return Round(sum(each.units for each in rounds), sum(each.rate for each in rounds), latencies, effort, database_effort)


def _process(load: Load, share: Sequence[int], seconds: float, barrier: Any, results: Any) -> None:
    clients = [Client(load.server[0], load.token) for _ in share]
    counts, latencies, faults = [0] * len(share), [[] for _ in share], []  # type: ignore[var-annotated]

    def loop(index: int) -> None:
        until = time.perf_counter() + seconds
        try:
            while (began := time.perf_counter()) < until:
                counts[index] += load.work(clients[index], share[index], **load.arguments)
                latencies[index].append(time.perf_counter() - began)
        except Exception as error:
            faults.append(repr(error))

    threads = [threading.Thread(target=loop, args=(index,)) for index in range(len(share))]
    barrier.wait(60)
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    flat = [latency for part in latencies for latency in part]
    results.put(faults[0] if faults else Round(sum(counts), sum(counts) / took, flat))


@dataclass(frozen=True)
class Line:
    load: Load
    rounds: list[Round]

    @property
    def rate(self) -> float:
        return statistics.median(each.rate for each in self.rounds)

    @property
    def effort(self) -> float:
        """Seconds of the server's processor time for each unit."""
        return sum(each.effort for each in self.rounds) / max(1, sum(each.units for each in self.rounds))

    @property
    def database_effort(self) -> float:
        """The same of the database's."""
        return sum(each.database_effort for each in self.rounds) / max(1, sum(each.units for each in self.rounds))

    @property
    def latencies(self) -> list[float]:
        return sorted(latency for each in self.rounds for latency in each.latencies)


def side_by_side(loads: Sequence[Load], rounds: int = 7, seconds: float = 0.5) -> list[Line]:
    """Each load once in each round, so that what else the machine does falls on all of them alike."""
    lines = [Line(load, []) for load in loads]
    for load in loads:
        run(load, 0.2)  # connections, plans and caches
    for _ in range(rounds):
        for line in lines:
            line.rounds.append(run(line.load, seconds))
    return lines


def table(lines: Sequence[Line]) -> str:
    """Medians with their spread, each as a ratio to the first, and what a unit cost the server and the database."""
    rows = [("", "a second", "spread", "ratio", "median ms", "99 % ms", "server µs", "database µs")]
    rows += [_row(line, lines[0].rate) for line in lines]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _row(line: Line, first: float) -> tuple[str, ...]:
    rates = [each.rate for each in line.rounds]
    latencies = line.latencies
    return (
        line.load.name,
        f"{line.rate:,.0f} {line.load.unit}",
        f"{min(rates):,.0f} to {max(rates):,.0f}",
        f"{line.rate / first:.2f}",
        f"{percentile(latencies, 0.5) * 1000:.2f}",
        f"{percentile(latencies, 0.99) * 1000:.2f}",
        f"{line.effort * 1_000_000:.1f}",
        f"{line.database_effort * 1_000_000:.1f}",
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


def efforts(server: tuple[int, int, str]) -> tuple[float, float]:
    """Processor time so far of the server, and of the sessions in its database."""
    with psycopg.connect(server[2], autocommit=True) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        sessions = [pid for (pid,) in rows if _is_postgres(pid)]
    return processor_seconds(server[1]), sum(map(processor_seconds, sessions))


def _is_postgres(pid: int) -> bool:
    """Whether the number means a process of this machine, and the right one."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().startswith("postgres")
    except OSError:
        return False


def processor_seconds(pid: int) -> float:
    """User and system time of a process; 0 where there is no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
