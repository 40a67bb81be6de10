"""Wake-ups between processes by NOTIFY: after commit, coalesced within 5 ms, keys and counts only, never content.

A notice that is lost costs time, not events: everyone who waits also polls slowly.
"""

import atexit
import logging
import threading
from collections import Counter
from collections.abc import Iterator

import psycopg
from django.db import connection, transaction

CHANNEL = "towpath"
COALESCE_SECONDS = 0.005
MAX_PAYLOAD_BYTES = 7900  # PostgreSQL refuses 8000 and more

logger = logging.getLogger(__name__)


def publish(key: str, count: int = 1) -> None:
    """Tells waiters of every process that `count` things came under `key`, once the current transaction has committed.

    Keys are short ASCII without spaces or `=`, such as `topic:17` or `queue:4`.
    """
    transaction.on_commit(lambda: _outbox.add(key, count))


def payloads(counts: Counter[str]) -> Iterator[str]:
    """`key=count` pairs joined by spaces, each text short enough for NOTIFY."""
    line = ""
    for key, count in counts.items():
        pair = f"{key}={count}"
        if len(line) + len(pair) + 1 > MAX_PAYLOAD_BYTES:
            yield line
            line = ""
        line = f"{line} {pair}" if line else pair
    if line:
        yield line


def parse(payload: str) -> list[tuple[str, int]]:
    return [(key, int(count)) for key, _, count in (pair.rpartition("=") for pair in payload.split())]


class _Outbox:
    """One thread and one connection a process; started with the first notice, flushed at exit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: Counter[str] = Counter()
        self._due = threading.Event()
        self._thread: threading.Thread | None = None
        self._connection: psycopg.Connection[tuple[object, ...]] | None = None
        self._sending = threading.Lock()

    def add(self, key: str, count: int) -> None:
        with self._lock:
            self._pending[key] += count
            if self._thread is None:
                # The settings dict of *this* thread's connection: in tests it names the test database.
                self._parameters = connection.get_connection_params()
                self._thread = threading.Thread(target=self._loop, name="notices", daemon=True)
                self._thread.start()
                atexit.register(self.flush)
        self._due.set()

    def flush(self) -> None:
        with self._sending:
            with self._lock:
                counts, self._pending = self._pending, Counter()
            if counts:
                self._send(counts)

    def _loop(self) -> None:
        while True:
            self._due.wait()
            self._due.clear()
            threading.Event().wait(COALESCE_SECONDS)
            self.flush()

    def _send(self, counts: Counter[str]) -> None:
        for attempt in (1, 2):
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = self._connect()
                for payload in payloads(counts):
                    self._connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, payload))
                return
            except psycopg.Error:
                self._connection = None
                if attempt == 2:
                    logger.warning("notices.dropped", extra={"keys": len(counts)}, exc_info=True)

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        names = {"dbname", "user", "password", "host", "port"}
        return psycopg.connect(
            autocommit=True,
            application_name="towpath notices",
            **{k: v for k, v in self._parameters.items() if k in names},
        )


_outbox = _Outbox()
