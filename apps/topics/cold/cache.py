"""Segments that were read lately, bounded in memory; few are read at once, so that a slow store holds few threads."""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from apps.topics.cold import store
from apps.topics.cold.segment import Segment
from core.errors import Busy

MAX_BYTES = 64 * 1024 * 1024
READS_AT_ONCE = 3
PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """Where a segment is and what is in it, as the index says."""

    first_offset: int
    last_offset: int
    records: int
    sha256: str
    locator: str


class _Cache:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reads = threading.BoundedSemaphore(READS_AT_ONCE)
        self._kept: OrderedDict[str, Segment] = OrderedDict()

    def get(self, wanted: SegmentRef) -> Segment:
        found = self._known(wanted.locator)
        if found is not None:
            return found
        if not self._reads.acquire(timeout=PATIENCE_SECONDS):
            raise Busy("Cold storage is being read by others; try again.")
        try:
            found = self._known(wanted.locator)
            return found or self._keep(wanted)
        finally:
            self._reads.release()

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()

    def _known(self, locator: str) -> Segment | None:
        with self._lock:
            if locator in self._kept:
                self._kept.move_to_end(locator)
            return self._kept.get(locator)

    def _keep(self, wanted: SegmentRef) -> Segment:
        found = Segment(store.get(wanted.locator), wanted.sha256, wanted.first_offset, wanted.records)
        with self._lock:
            self._kept[wanted.locator] = found
            while len(self._kept) > 1 and sum(each.bytes for each in self._kept.values()) > MAX_BYTES:
                self._kept.popitem(last=False)
        return found


_cache = _Cache()


def opened(wanted: SegmentRef) -> Segment:
    """Raises StoreFailed, Busy, and Unavailable for a damaged one."""
    return _cache.get(wanted)


def forget_opened() -> None:
    _cache.clear()
