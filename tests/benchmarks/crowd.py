"""Many readers of one event stream, in a process of their own: how long each event took to each of them."""

import re
import resource
import selectors
import socket
import time
from multiprocessing import Queue, get_context
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from typing import Any

BATCH = 50  # that join at once: a crowd, not a flood
STAMP = re.compile(rb'"at":\s?(\d+)')


class Crowd:
    """`count` readers that have all been answered; `wait` ends them and gives nanoseconds, one for each event and reader."""

    def __init__(self, port: int, request: bytes, count: int) -> None:
        context = get_context("spawn")
        self._results: Queue[Any] = context.Queue()
        self._stop: Event = context.Event()
        self._process: BaseProcess = context.Process(
            target=read, args=(port, request, count, self._stop, self._results), daemon=True
        )
        self._process.start()
        said = self._results.get(timeout=120)
        assert said == "joined", said

    def wait(self) -> list[int]:
        self._stop.set()
        found: list[int] = self._results.get(timeout=120)
        self._process.join()
        return found


def read(port: int, request: bytes, count: int, stop: Event, results: "Queue[Any]") -> None:
    raise_file_limit()
    selector = selectors.DefaultSelector()
    for _ in range(0, count, BATCH):
        batch = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(BATCH)]
        for reader in batch:
            reader.sendall(request)
        for reader in batch:
            said = reader.recv(65_536)
            if b" 200 " not in said[:16]:
                return results.put(said)
            selector.register(reader, selectors.EVENT_READ)
    results.put("joined")
    results.put(collect(selector, stop))


def collect(selector: selectors.BaseSelector, stop: Event) -> list[int]:
    took: list[int] = []
    while not stop.is_set():
        for key, _ in selector.select(0.2):
            chunk = key.fileobj.recv(262_144)  # type: ignore[union-attr]
            now = time.monotonic_ns()
            took += [now - int(stamp) for stamp in STAMP.findall(chunk)]
    return took


def raise_file_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
