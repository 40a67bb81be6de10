"""Wake-ups between processes by NOTIFY: after commit, coalesced within 5 ms, keys and counts only, never content.

A notice that is lost costs time, not events: everyone who waits also polls slowly.
"""

import atexit
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from queue import SimpleQueue
from typing import Any

import psycopg
from django.db import connection, transaction

from core.metrics import NOTICES_LOST, NOTICES_SENT
from core.round_trip import Link, Query

CHANNEL = "towpath"
COALESCE_SECONDS = 0.005
MAX_PAYLOAD_BYTES = 7900  # PostgreSQL refuses 8000 and more
MAX_PENDING_KEYS = 10_000  # while the database is away; beyond it, waiters' slow poll has to do
MAX_PAUSE_SECONDS = 5.0

logger = logging.getLogger(__name__)


def publish(key: str, count: int = 1) -> None:
    """Tells waiters of every process that `count` things came under `key`, once the current transaction has committed.

    Keys are short ASCII without spaces or `=`, such as `topic:17` or `queue:4`.
    """
    if connection.in_atomic_block:
        transaction.on_commit(lambda: _outbox.add(key, count))
    else:
        _outbox.add(key, count)


def flush() -> None:
    """Sends what is pending now; for the end of a process. Never raises."""
    _outbox.flush()


def payloads(counts: Mapping[str, int]) -> Iterator[str]:
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
    """The pairs of a payload; what another program may have sent on our channel is passed over."""
    pairs = (pair.rpartition("=") for pair in payload.split())
    return [(key, int(count)) for key, _, count in pairs if key and count.isascii() and count.isdigit()]


def connection_parameters(django_parameters: Mapping[str, Any]) -> dict[str, Any]:
    """How to reach the same database with a connection of one's own: without Django's cursors and session settings."""
    return {name: value for name, value in django_parameters.items() if name not in _DJANGOS}


_DJANGOS = {"options", "application_name", "prepare_threshold", "cursor_factory", "context", "assume_role", "pool"}


_NOTIFY = Query("SELECT pg_notify(%(channel)s, %(payload)s)")


class _Outbox:
    """One thread and one connection a process; started with the first notice, flushed at exit."""

    def __init__(self, parameters: Callable[[], dict[str, Any]]) -> None:
        """`parameters` is asked at each connection, by the sending thread."""
        self._parameters = parameters
        self._reset()

    def _reset(self) -> None:
        """Also in a forked child: its parent's thread is not there and its parent's connection is not its own."""
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._pending: Counter[str] = Counter()
        self._due: SimpleQueue[None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._link: Link | None = None
        self._failures = 0
        self._sent_at = 0.0

    def add(self, key: str, count: int) -> None:
        with self._lock:
            if not self._pending:
                self._due.put(None)
            if key in self._pending or len(self._pending) < MAX_PENDING_KEYS:
                self._pending[key] += count
            else:
                NOTICES_LOST.inc()
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="notices", daemon=True)
                self._thread.start()

    def flush(self) -> None:
        with self._sending:
            with self._lock:
                counts, self._pending = self._pending, Counter()
            if counts and not self._send(counts):
                with self._lock:
                    self._pending.update(counts)

    def _loop(self) -> None:
        while True:
            self._due.get()
            # The first after a pause goes at once, what follows it within 5 ms goes together.
            time.sleep(max(0.0, self._sent_at + COALESCE_SECONDS - time.monotonic()))
            self._sent_at = time.monotonic()
            self.flush()
            if self._failures:
                time.sleep(min(0.05 * 2**self._failures, MAX_PAUSE_SECONDS))
                self._due.put(None)

    def _send(self, counts: Counter[str]) -> bool:
        """False when the database is away; the log tells once of each outage."""
        try:
            if self._link is None or self._link.raw.closed:
                self._link = Link(self._connect())
            for payload in payloads(counts):
                self._link.run([(_NOTIFY, {"channel": CHANNEL, "payload": payload})])
                NOTICES_SENT.inc()
        except (psycopg.Error, OSError) as error:
            self._link = None
            self._failures += 1
            # The first failure is mostly an idle connection that the server closed: the second try makes a new one.
            if self._failures == 2:
                logger.warning("notices.delayed", extra={"keys": len(counts), "reason": str(error).split("\n")[0]})
            return False
        self._failures = 0
        return True

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        parameters = connection_parameters(self._parameters())
        parameters |= {"connect_timeout": 3, "options": "-c statement_timeout=5s", "application_name": "towpath notices"}
        return psycopg.connect(**parameters, autocommit=True)


_outbox = _Outbox(lambda: connection.get_connection_params())
atexit.register(_outbox.flush)
os.register_at_fork(after_in_child=_outbox._reset)
