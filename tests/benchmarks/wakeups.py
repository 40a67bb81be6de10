"""How soon a waiting claim is answered after an event was enqueued, alone and beside 2,000 others that wait in vain."""

import os
import resource
import socket
import statistics
import threading
import time
from pathlib import Path

from tests.benchmarks import place
from tests.benchmarks.client import Client
from tests.benchmarks.load import percentile
from tests.serving import Server

CROWD = int(os.environ.get("TOWPATH_BENCHMARK_CROWD", "2000"))
SAMPLES = 200


def main() -> None:
    with place.server() as (server, token):
        client = Client(server.port, token)
        for queue in ("crowded", "measured"):
            client.call("POST", "/v1/event-queues", {"name": queue})
        print("                     enqueue sent → claim answered    enqueue answered → claim answered")
        report("nobody else waits", server, token)
        before = resident(server)
        crowd = wait_in_vain(server, token, CROWD)
        grown = (resident(server) - before) / 1024
        report(f"{CROWD:,} others wait", server, token)
        print(f"memory for {CROWD:,} waits: {grown:.0f} MiB, {grown * 1024 / CROWD:.1f} KiB each")
        for one in crowd:
            one.close()


def report(title: str, server: Server, token: str) -> None:
    samples = [sample(server, token) for _ in range(SAMPLES)]
    sent, answered = (sorted(each[index] * 1000 for each in samples) for index in (0, 1))
    figures = [
        f"median {statistics.median(part):5.2f} ms, 99 % {percentile(part, 0.99):6.2f} ms" for part in (sent, answered)
    ]
    print(f"{title:20} {figures[0]}    {figures[1]}", flush=True)


def sample(server: Server, token: str) -> tuple[float, float]:
    """Seconds from sending the enqueue, and from its answer, to the answer of a claim that was waiting."""
    moment: list[float] = []

    def claim() -> None:
        waiting = Client(server.port, token)
        taken = waiting.call("POST", "/v1/event-queues/measured/claim", {"waitSeconds": 20})
        moment.append(time.perf_counter())
        event = taken["data"]
        waiting.call("POST", f"/v1/events/{event['event']['id']}/ack", {"leaseToken": event["leaseToken"]})
        waiting.close()

    waiter = threading.Thread(target=claim)
    waiter.start()
    time.sleep(0.03)  # until it waits
    publisher = Client(server.port, token)
    publisher.call("GET", "/v1/event-queues/measured")
    began = time.perf_counter()
    publisher.call("POST", "/v1/event-queues/measured/events", {"payload": {}})
    answered = time.perf_counter()
    waiter.join()
    publisher.close()
    return moment[0] - began, moment[0] - answered


def wait_in_vain(server: Server, token: str, count: int) -> list[socket.socket]:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    body = b'{"waitSeconds": 60}'
    head = f"POST /v1/event-queues/crowded/claim HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
    waiting = []
    for number in range(count):
        one = server.connect()
        one.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        waiting.append(one)
        if number % 50 == 49:
            time.sleep(0.05)  # a crowd that comes over some seconds, not a flood
    time.sleep(1)
    return waiting


def resident(server: Server) -> int:
    """KiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


if __name__ == "__main__":
    main()
