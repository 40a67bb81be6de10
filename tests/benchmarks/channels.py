"""Live channels: memory of many connections, and how soon an event is at each of 1,000 readers; beside nginx with nchan.

nginx and its module come from Debian (libnginx-mod-nchan); TOWPATH_NGINX and TOWPATH_NCHAN name the two files where they are
installed elsewhere. Without them only our own figures are printed.
"""

import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks import place
from tests.benchmarks.client import Client
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.load import percentile
from tests.benchmarks.wakeups import resident
from tests.serving import Server, free_port

CONNECTIONS = int(os.environ.get("TOWPATH_BENCHMARK_CONNECTIONS", "5000"))
READERS = int(os.environ.get("TOWPATH_BENCHMARK_READERS", "1000"))
RATE = int(os.environ.get("TOWPATH_BENCHMARK_RATE", "100"))
SECONDS, ROUNDS = 3.0, 3
PAD = "x" * 200

Publish = Callable[[bytes], None]
CONFIGURATION = """
load_module {module};
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location = /publish {{ nchan_publisher; nchan_channel_id job; }}
    location = /live {{ nchan_subscriber eventsource; nchan_channel_id job; nchan_subscriber_first_message newest; }}
  }}
}}
"""


def main() -> None:
    with place.server(TOWPATH_MAX_STREAMS="8192", TOWPATH_ACCESS_LOG="0") as (server, token):
        memory(server, token)
        request = live("job:fan", token)
        ours: list[tuple[float, ...]] = []
        theirs: list[tuple[float, ...]] = []
        with nchan() as rival:
            for _ in range(ROUNDS):
                ours.append(spread(server.port, request, to_channel(server, token), server.process.pid))
                if rival:
                    there = b"GET /live HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
                    theirs.append(spread(rival[0], there, to_nchan(rival[0]), rival[1]))
        report(ours, theirs)


def memory(server: Server, token: str) -> None:
    request = live("job:many", token)
    warm = Crowd(server.port, request, 10)
    warm.wait()
    before = resident(server)
    crowd = Crowd(server.port, request, CONNECTIONS)
    time.sleep(1)
    each = (resident(server) - before) / CONNECTIONS
    to_channel(server, token, "job:many")(stamped())
    time.sleep(3)
    took = sorted(crowd.wait())
    assert len(took) == CONNECTIONS, f"{len(took)} of {CONNECTIONS} heard of it"
    print(f"{CONNECTIONS:,} connections on one process: {each:.1f} KiB each", flush=True)
    print(f"one event is at the first of them after {took[0] / 1e6:.0f} ms, at the last after {took[-1] / 1e6:.0f} ms")


def live(channel: str, token: str) -> bytes:
    return f"GET /v1/streams/{channel}/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


def spread(port: int, request: bytes, publish: Publish, pid: int) -> tuple[float, float, float, float]:
    """Median and 99th percentile in milliseconds from before the publish to each reader, which part has arrived, and
    microseconds of processor time of the server for each delivery, which what else the machine does hardly changes.
    """
    crowd = Crowd(port, request, READERS)
    before, sent, began = processor_seconds(pid), 0, time.monotonic()
    while (now := time.monotonic() - began) < SECONDS:
        if sent <= now * RATE:
            publish(stamped())
            sent += 1
        else:
            time.sleep(0.0005)
    time.sleep(1)
    used = processor_seconds(pid) - before
    took = sorted(crowd.wait())
    delivered = len(took) / (sent * READERS)
    return statistics.median(took) / 1e6, percentile(took, 0.99) / 1e6, delivered, used / len(took) * 1e6


def processor_seconds(pid: int) -> float:
    """Of the process, its threads and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(processor_seconds(int(child)) for child in children)


def stamped() -> bytes:
    return b'{"at": %d, "pad": "%b"}' % (time.monotonic_ns(), PAD.encode())


def to_channel(server: Server, token: str, channel: str = "job:fan") -> Publish:
    client = Client(server.port, token)

    def publish(body: bytes) -> None:
        status, raw = client.send("POST", f"/v1/streams/{channel}/events", b'{"type": "x", "data": ' + body + b"}")
        assert status == 201, raw

    return publish


def to_nchan(port: int) -> Publish:
    client = Client(port)

    def publish(body: bytes) -> None:
        status, raw = client.send("POST", "/publish", body)
        assert status in (201, 202), raw

    return publish


@contextmanager
def nchan() -> Iterator[tuple[int, int] | None]:
    """Port and process of an nginx with nchan, in memory only, one worker process; None where there is none."""
    nginx = os.environ.get("TOWPATH_NGINX") or shutil.which("nginx") or "/usr/sbin/nginx"
    module = os.environ.get("TOWPATH_NCHAN", "/usr/lib/nginx/modules/ngx_nchan_module.so")
    if not (Path(nginx).exists() and Path(module).exists()):
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        file = Path(folder, "nginx.conf")
        file.write_text(CONFIGURATION.format(module=module, folder=folder, port=port))
        running = subprocess.Popen([nginx, "-p", folder, "-c", str(file), "-e", f"{folder}/error.log"])
        time.sleep(0.5)
        assert running.poll() is None, Path(folder, "error.log").read_text()
        yield port, running.pid
        running.send_signal(signal.SIGTERM)
        running.wait(10)


def report(ours: list[tuple[float, ...]], theirs: list[tuple[float, ...]]) -> None:
    print(f"{RATE} events a second to {READERS:,} readers, publish sent → received, {ROUNDS} rounds of {SECONDS:.0f} s")
    for name, rounds in (("towpath", ours), ("nginx with nchan", theirs)):
        if rounds:
            figures = [statistics.median(each[index] for each in rounds) for index in range(4)]
            tails = ", ".join(f"{each[1]:.0f}" for each in rounds)
            said = f"median {figures[0]:6.1f} ms, 99 % {figures[1]:6.1f} ms (rounds: {tails})"
            print(f"{name:18} {said}, {figures[2]:.2%} arrived, {figures[3]:.1f} µs of processor each")
    if theirs:
        ratio = statistics.median(each[1] for each in ours) / statistics.median(each[1] for each in theirs)
        print(f"99 % of towpath / 99 % of nchan: {ratio:.2f}")


if __name__ == "__main__":
    main()
