"""Events that are no longer rows, by offset or by time. The store is read here: never call these under a lock."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from apps.topics.cold.cache import SegmentRef, opened
from apps.topics.cold.segment import LogRow
from core import sql

SEGMENTS = sql.statement(__file__, "segments")
SEGMENT_SINCE = sql.statement(__file__, "segment_since")

AT_ONCE = 100  # segments looked up in one query


def segments(topic_id: int, partition: int, first: int, after: int, limit: int = AT_ONCE) -> list[SegmentRef]:
    wanted = {"topic_id": topic_id, "partition": partition, "first": first, "after": after, "limit": limit}
    return [SegmentRef(*row) for row in sql.run((SEGMENTS, wanted))[0]]


def read(found: Sequence[SegmentRef], first: int, after: int, max_bytes: int | None = None) -> list[LogRow]:
    """The events first … after - 1 that these segments hold without a hole, up to `max_bytes` but never below one."""
    rows: list[LogRow] = []
    for segment in found:
        start = first + len(rows)
        if not segment.first_offset <= start <= segment.last_offset or start >= after:
            break
        rows += opened(segment).rows(start, after)
        if max_bytes is not None and rows[-1].total_bytes - rows[0].total_bytes > max_bytes:
            break
    return rows


def read_from(topic_id: int, partition: int, first: int, count: int) -> list[LogRow]:
    """Up to `count` events from the offset `first` on, as far as they are cold."""
    return read(segments(topic_id, partition, first, first + count), first, first + count)


def rows_at(topic_id: int, partition: int, offsets: Sequence[int]) -> Iterator[LogRow]:
    """Those of the ascending offsets that are cold: only their lines are parsed."""
    if not offsets:
        return
    for segment in segments(topic_id, partition, offsets[0], offsets[-1] + 1):
        for offset in offsets:
            if segment.first_offset <= offset <= segment.last_offset:
                yield opened(segment).row(offset)


def offsets_since(topic_id: int, time: datetime) -> dict[int, int]:
    """By partition the first cold event appended then or later; partitions whose cold events are all older are left out."""
    rows = sql.run((SEGMENT_SINCE, {"topic_id": topic_id, "time": time}))[0]
    return {partition: opened(SegmentRef(*row)).first_since(time) for partition, *row in rows}
