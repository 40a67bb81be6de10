"""What administrators see of a log: where its partitions stand, and its events a page at a time, bodies only one by one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from apps.topics.cold.segment import LogRow
from apps.topics.selectors import cold
from core import sql
from core.sequence import sequence

PARTITIONS_NOW = sql.statement(__file__, "partitions_now")
LATEST = sql.statement(__file__, "latest")
SCAN = sql.statement(__file__, "scan")
FIRST_SINCE = sql.statement(__file__, "first_since")
COLD_NOW = sql.statement(__file__, "cold_now")
ONE_EVENT = sql.statement(__file__, "one_event")

SCANNED = 1_000  # offsets looked at for one page of a type
RECORD = 0


@dataclass(frozen=True)
class PartitionNow:
    topic_id: int
    partition: int
    oldest: int
    hot: int
    next: int
    hot_bytes: int
    last_at: datetime | None
    recent: int | None
    recent_seconds: float | None

    @property
    def hot_records(self) -> int:
        return self.next - self.hot

    @property
    def rate(self) -> float:
        """Events a second, over the last hundred (or fewer) until now: it fades when nothing comes."""
        return self.recent / self.recent_seconds if self.recent and self.recent_seconds else 0.0


@dataclass(frozen=True)
class TopicNow:
    partitions: tuple[PartitionNow, ...]

    @property
    def hot_records(self) -> int:
        return sum(each.hot_records for each in self.partitions)

    @property
    def hot_bytes(self) -> int:
        return sum(each.hot_bytes for each in self.partitions)

    @property
    def rate(self) -> float:
        return sum(each.rate for each in self.partitions)

    @property
    def last_at(self) -> datetime | None:
        return max((each.last_at for each in self.partitions if each.last_at), default=None)

    @property
    def skew(self) -> float | None:
        """How many times its fair share the fullest partition holds; None while all are empty."""
        fair = self.hot_records / len(self.partitions)
        return max(each.hot_records for each in self.partitions) / fair if fair else None


@dataclass(frozen=True)
class Seen:
    """An event without its body."""

    partition: int
    offset: int
    appended_at: datetime
    kind: int
    partition_key: str
    key: str | None
    type: str | None
    source: str | None
    subject: str | None
    size: int
    body: str | None = None

    @property
    def sequence(self) -> str:
        return sequence(self.partition, self.offset)

    @property
    def is_record(self) -> bool:
        return self.kind == RECORD


@dataclass(frozen=True)
class ColdNow:
    """What of a partition is in cold storage; bytes as stored, raw as appended."""

    partition: int
    segments: int
    records: int
    bytes: int
    raw_bytes: int
    first_at: datetime | None
    last_at: datetime | None


@dataclass(frozen=True)
class SeenPage:
    events: list[Seen]
    next: int | None
    """The offset to go on from; None at the head."""


def topics_now(topics: Iterable[int]) -> dict[int, TopicNow]:
    """By topic id, in one query."""
    (rows,) = sql.run((PARTITIONS_NOW, {"topics": list(topics)}))
    parts = [PartitionNow(*row) for row in rows]
    return {topic: TopicNow(tuple(group)) for topic, group in groupby(parts, key=lambda part: part.topic_id)}


def latest(topic_id: int, limit: int) -> list[Seen]:
    """Over all partitions, the latest first."""
    return [Seen(*row) for row in sql.run((LATEST, {"topic_id": topic_id, "limit": limit}))[0]]


def scan(now: PartitionNow, first: int, limit: int, types: str | None = None, key: str | None = None) -> SeenPage:
    """From `first` on, or the oldest that is there, up to the seam or the head.

    Of a type (`order.*`) or a partition key as far as SCANNED offsets reach.
    """
    start = max(first, now.oldest)
    before = min(now.next, start + (SCANNED if types or key is not None else limit))
    if start < now.hot:
        before = min(before, now.hot)
        events = _cold(now, start, before, limit, types, key)
    else:
        asked = {"topic_id": now.topic_id, "partition": now.partition, "first": start, "before": before, "limit": limit}
        rows = sql.run((SCAN, {**asked, "type": types and _pattern(types), "key": key}))[0]
        events = [Seen(*row) for row in rows]
    then = events[-1].offset + 1 if len(events) == limit else before
    return SeenPage(events, then if then < now.next else None)


def _cold(now: PartitionNow, start: int, before: int, limit: int, types: str | None, key: str | None) -> list[Seen]:
    wanted = re.compile(".*".join(map(re.escape, types.split("*"))), re.DOTALL) if types else None
    rows = cold.read_from(now.topic_id, now.partition, start, before - start)
    return [
        _seen(now.partition, row)
        for row in rows
        if (wanted is None or wanted.fullmatch(row.type or "")) and key in (None, row.partition_key)
    ][:limit]


def _seen(partition: int, row: LogRow, body: str | None = None) -> Seen:
    described = (row.kind, row.partition_key, row.key, row.type, row.source, row.subject)
    return Seen(partition, row.offset, row.appended_at, *described, len(row.body.encode()), body)


def offset_since(now: PartitionNow, time: datetime) -> int:
    """The first event appended then or later; the head when there is none."""
    found = cold.offsets_since(now.topic_id, time).get(now.partition)
    if found is not None:
        return found
    rows = sql.run((FIRST_SINCE, {"topic_id": now.topic_id, "partition": now.partition, "first": now.hot, "time": time}))[0]
    return int(rows[0][0]) if rows else now.next


def cold_now(topic_id: int) -> list[ColdNow]:
    """One a partition."""
    return [ColdNow(*row) for row in sql.run((COLD_NOW, {"topic_id": topic_id}))[0]]


def _pattern(types: str) -> str:
    escaped = types.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return escaped.replace("*", "%")


def one(topic_id: int, partition: int, offset: int) -> Seen | None:
    """With its body; None when it is not (or no longer) there."""
    (rows,) = sql.run((ONE_EVENT, {"topic_id": topic_id, "partition": partition, "offset": offset}))
    if rows:
        return Seen(*rows[0])
    return next((_seen(partition, row, row.body) for row in cold.rows_at(topic_id, partition, [offset])), None)
