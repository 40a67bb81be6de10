"""Queues: enqueue, and claim + ack, by 1 and 100, by 1 and 8 clients: SQL alone beside rivals, and over HTTP."""

import multiprocessing
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks import load, place, rivals
from tests.benchmarks.client import Client
from tests.benchmarks.load import Load

ROUNDS, SECONDS = 3, 0.4
CLIENTS, COUNTS = (1, 8), (1, 100)


@dataclass
class Line:
    verb: str
    count: int
    clients: int
    rates: dict[str, list[float]] = field(default_factory=dict)

    def show(self) -> str:
        medians = {name: statistics.median(rates) for name, rates in self.rates.items()}
        first = medians["Towpath"]
        cells = [f"{name} {rate:,.0f}/s ({rate / first:.2f}; {spread(self.rates[name])})" for name, rate in medians.items()]
        return f"{self.verb} by {self.count}, {self.clients} client(s): " + ", ".join(cells)


def spread(rates: Sequence[float]) -> str:
    return f"{min(rates):,.0f}-{max(rates):,.0f}"


def main() -> None:
    with place.database() as url:
        print("SQL alone, events a second (ratio to Towpath; lowest-highest)\n")
        for line in beside_rivals(url):
            print(line.show(), flush=True)
    with place.server(TOWPATH_ACCESS_LOG="0") as (server, token):
        print("\nOver HTTP\n")
        for clients in CLIENTS:
            print(load.table(load.side_by_side(over_http(server, token, clients), ROUNDS, SECONDS)), flush=True)


def beside_rivals(url: str) -> list[Line]:
    found = rivals.drivers()
    for driver in found.values():
        in_process(driver.install, url)  # type: ignore[attr-defined]
    clients = {name: [Remote(driver, url) for _ in range(max(CLIENTS))] for name, driver in found.items()}
    lines = [Line(verb, count, number) for number in CLIENTS for count in COUNTS for verb in ("enqueue", "take")]
    for _ in range(ROUNDS):
        for line in lines:
            for name, remotes in clients.items():
                line.rates.setdefault(name, []).append(rate(remotes[: line.clients], line))
    for remote in (remote for remotes in clients.values() for remote in remotes):
        remote.ask("end", 0)
    return lines


def rate(remotes: Sequence["Remote"], line: Line) -> float:
    for step in ("prepare", line.verb):
        for remote in remotes:
            remote.ask(step, line.count)
        answers = [remote.answer() for remote in remotes]
    return sum(answers)


class Remote:
    """A driver in a process of its own, that waits for what to do next."""

    def __init__(self, driver: Any, url: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=serve, args=(driver, url, other), daemon=True)
        self._process.start()

    def ask(self, step: str, count: int) -> None:
        self._pipe.send((step, count))

    def answer(self) -> float:
        assert self._pipe.poll(60)
        return float(self._pipe.recv())


def serve(driver: Any, url: str, pipe: Any) -> None:
    here = driver(url)
    while (asked := pipe.recv())[0] != "end":
        step, count = asked
        if step == "prepare":
            # Enough for the time that follows, and plans and caches warm.
            for _ in range(10 if count == 100 else 3):
                here.enqueue(100)
            pipe.send(here.take(count))
        else:
            pipe.send(timed(getattr(here, step), count))
    here.close()


def timed(work: Any, count: int) -> float:
    began, units = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS and (done := work(count)):
        units += done
    return units / (time.perf_counter() - began)


def in_process(step: Any, *arguments: Any) -> None:
    """What an installation leaves behind in a process stays there."""
    process = multiprocessing.get_context("spawn").Process(target=step, args=arguments)
    process.start()
    process.join()
    assert process.exitcode == 0


def enqueue(client: Client, number: int, count: int, queue: str) -> int:
    event = {"payload": {"to": "somebody@example.org", "subject": "x" * 250}}
    client.call("POST", f"/v1/event-queues/{queue}/events", event if count == 1 else {"events": [event] * count})
    return count


def take(client: Client, number: int, count: int, queue: str) -> int:
    path = f"/v1/event-queues/{queue}"
    claims = client.call("POST", f"{path}/claim", {"limit": count})["data"]["claims"]
    acks = [{"id": claim["event"]["id"], "leaseToken": claim["leaseToken"]} for claim in claims]
    if not acks:
        enqueue(client, number, 100, queue)
    elif count > 1:
        client.call("POST", f"{path}/ack", {"acks": acks})
    else:
        client.call("POST", f"/v1/events/{acks[0]['id']}/ack", {"leaseToken": acks[0]["leaseToken"]})
    return len(claims)


def over_http(server: Any, token: str, clients: int) -> list[Load]:
    caller = Client(server.port, token)
    loads = []
    for count in COUNTS:
        queue = f"bench-{clients}-{count}"
        caller.call("POST", "/v1/event-queues", {"name": queue})
        arguments = {"count": count, "queue": queue}
        for name, work in (("enqueue", enqueue), ("claim + ack", take)):
            label = f"{name} by {count}, {clients} client(s)"
            loads.append(Load(label, work, server.place, token, clients, arguments, unit="events"))
    caller.close()
    return loads
