"""Which neighbouring segments are worth being one. Pure.

Each time an event is written again its segment grows fourfold, or is done, or has rested for a day: so an event is written
a handful of times in its life, and a partition keeps a handful of small segments.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

MAX_RECORDS = 20_000
MAX_BYTES = 16 * 1024 * 1024
# A segment with half of either is done. The index segment_small and small_segments.sql name the same numbers.
FULL_RECORDS, FULL_BYTES = MAX_RECORDS // 2, MAX_BYTES // 2
GROWTH = 4
LONGEST = timedelta(days=7)
LINE_BYTES = 256  # what stands around a body in a segment


@dataclass(frozen=True, slots=True)
class Small:
    """A segment that is not half full, as the index says."""

    partition: int
    first_offset: int
    last_offset: int
    records: int
    raw_bytes: int
    first_at: datetime
    last_at: datetime
    sha256: str
    locator: str
    age: timedelta
    """Of its last event."""
    has_rested: bool
    """It has been as it is for a day."""

    @property
    def size(self) -> int:
        return self.raw_bytes + LINE_BYTES * self.records


def windows(small: Sequence[Small], replay_seconds: int | None) -> list[Sequence[Small]]:
    """Of the small segments of one partition, in order, those to be merged. Raises nothing, takes none twice."""
    return [window for run in _neighbours(small) for window in _worthwhile(run, _longest(replay_seconds))]


def _longest(replay_seconds: int | None) -> timedelta:
    """Segments expire as a whole: one that spans long keeps its first events over their time."""
    return LONGEST if replay_seconds is None else min(LONGEST, timedelta(seconds=replay_seconds) / 10)


def _neighbours(small: Sequence[Small]) -> Iterator[Sequence[Small]]:
    start = 0
    for index in range(1, len(small) + 1):
        if index == len(small) or small[index].first_offset != small[index - 1].last_offset + 1:
            yield small[start:index]
            start = index


def _worthwhile(run: Sequence[Small], longest: timedelta) -> Iterator[Sequence[Small]]:
    """From the oldest on the longest window each."""
    start = 0
    while start < len(run) - 1:
        fitting = _fitting(run[start:], longest)
        window = next((run[start : start + count] for count in range(fitting, 1, -1) if _is_worth(run, start, count)), None)
        if window is not None:
            yield window
        start += len(window or (1,))


def _fitting(run: Sequence[Small], longest: timedelta) -> int:
    """How many of the first make a segment that is not too large and does not span too long.

    Its span is at most its age: the age of a cold event is told by its place between the ends of its segment, and may be
    wrong by as much.
    """
    records = size = 0
    for count, each in enumerate(run):
        records, size = records + each.records, size + each.raw_bytes
        too_long = each.last_at - run[0].first_at > min(longest, each.age)
        if records > MAX_RECORDS or size > MAX_BYTES or too_long:
            return count
    return len(run)


def _is_worth(run: Sequence[Small], start: int, count: int) -> bool:
    window = run[start : start + count]
    is_full = sum(each.records for each in window) >= FULL_RECORDS or sum(each.raw_bytes for each in window) >= FULL_BYTES
    grows = sum(each.size for each in window) >= GROWTH * max(each.size for each in window)
    return is_full or grows or all(each.has_rested for each in window)
