"""Which workers came by, from memory: an empty pull writes nothing, and every 15 s a process that serves tells whom it has
seen. Others (a shell, a test) remember until they are asked.
"""

import atexit
import logging
import threading
import time

from django.db import connection

from core import sql

FLUSH_SECONDS = 15.0
MAX_REMEMBERED = 10_000  # a client that makes up a worker for every pull must not fill the memory

SEE_WORKERS = sql.statement(__file__, "see_workers")
FORGET_WORKERS = sql.statement(__file__, "forget_workers")

logger = logging.getLogger(__name__)

Worker = tuple[int, int, str]


class _Sightings:
    """Last sight of each worker since the last flush, and in a process that serves the one thread that flushes."""

    def __init__(self) -> None:
        self.serves = False
        self._seen: dict[Worker, float] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, worker: Worker) -> None:
        with self._lock:
            if len(self._seen) < MAX_REMEMBERED or worker in self._seen:
                self._seen[worker] = time.monotonic()
            if self.serves and self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="sightings", daemon=True)
                self._thread.start()
                atexit.register(self._flush_or_lose)

    def flush(self) -> int:
        with self._lock:
            seen, self._seen = self._seen, {}
        if not seen:
            return 0
        now = time.monotonic()
        topics, consumers, names = (list(column) for column in zip(*seen, strict=True))
        ages = [now - moment for moment in seen.values()]
        sql.run((SEE_WORKERS, {"topics": topics, "consumers": consumers, "workers": names, "ages": ages}))
        return len(seen)

    def _loop(self) -> None:
        while True:
            threading.Event().wait(FLUSH_SECONDS)
            self._flush_or_lose()

    def _flush_or_lose(self) -> None:
        """The thread lives as long as the process: what one flush loses, the next one sees again."""
        try:
            self.flush()
        except Exception as error:
            logger.warning("sightings.lost", extra={"reason": str(error).split("\n")[0]})
        finally:
            connection.close()


_sightings = _Sightings()


def sight(topic_id: int, consumer_id: int, worker: str) -> None:
    _sightings.add((topic_id, consumer_id, worker))


def tell_sightings_regularly() -> None:
    """For processes that serve: from the first sight on every 15 s, and at exit."""
    _sightings.serves = True


def flush_sightings() -> int:
    """Writes what this process has seen now; returns how many workers."""
    return _sightings.flush()


def forget_workers() -> int:
    """Forgets workers that were not seen for a day, but never the last one of a consumer."""
    return len(sql.run((FORGET_WORKERS, {}))[0])
