"""Where destinations stand: lag, leases and cause, each destination in one snapshot, any number in one round trip.

The API, the admin and the samples behind the metrics all read this, so they cannot disagree.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from core import sql

STATUS = sql.statement(__file__, "status")


@dataclass(frozen=True)
class OldestLease:
    id: UUID
    worker: str
    generation: int
    attempt: int
    state: str
    leased_at: datetime
    visible_at: datetime


@dataclass(frozen=True)
class PartitionStatus:
    partition: int
    oldest: int
    position: int
    served_at: datetime | None
    head: int
    unsettled: int
    """The first unsettled offset; committed is the one before."""
    age: float | None
    """Seconds since the first unsettled event was appended, about that if it is cold; None: there is none, or not known."""
    goes_by_age: float | None
    """The age that retention goes by: a cold event's is that of the last one in its segment."""
    retained_seconds: float | None
    """How old the oldest readable event can get; None: any age."""
    in_flight: int
    waiting: int
    spanned: int
    """Offsets covered by live leases: less than position - unsettled when a later batch is settled already."""
    settled: int
    """Events acknowledged or given up so far: of what was handed out, all that no live lease holds."""
    handed_at: datetime | None
    oldest_lease: OldestLease | None

    @property
    def lag_events(self) -> int:
        return max(0, self.head - self.unsettled)

    @property
    def retention_reaches_in(self) -> float | None:
        """Seconds until the first unsettled event may go, at the earliest; None: never, or it is not known."""
        if self.retained_seconds is None or self.goes_by_age is None:
            return None
        return max(0.0, self.retained_seconds - self.goes_by_age)

    @property
    def lag_seconds(self) -> float | None:
        """0 when nothing is unsettled; None when that cannot be told."""
        return 0.0 if self.lag_events == 0 else None if self.age is None else max(0.0, self.age)


@dataclass(frozen=True)
class Status:
    topic_id: int
    consumer_id: int
    window: int
    max_unsettled: int
    ordering: str
    filtered: bool
    paused_at: datetime | None
    pause_reason: str | None
    paused_by: str | None
    resume_at: datetime | None
    paused: bool
    disabled_at: datetime | None
    disabled_reason: str | None
    created_at: datetime
    seen_at: datetime | None
    seen_since: datetime | None
    """Since when workers come by without a break of a minute; None: none came by lately."""
    as_of: datetime
    held_code: str | None
    held_text: str | None
    held_since: datetime | None
    """What keeps a forwarder from pushing: the target, or its breaker."""
    partitions: Sequence[PartitionStatus]

    @property
    def lag_events(self) -> int:
        return sum(partition.lag_events for partition in self.partitions)

    @property
    def lag_seconds(self) -> float | None:
        """The worst partition's; unknown when any partition's is."""
        lags = [partition.lag_seconds for partition in self.partitions]
        return None if None in lags else max((lag for lag in lags if lag is not None), default=0.0)

    @property
    def exact(self) -> bool:
        """With a filter lag counts offsets, of which some will not match: an upper bound."""
        return not self.filtered or self.lag_events == 0

    @property
    def in_flight(self) -> int:
        return sum(partition.in_flight for partition in self.partitions)

    @property
    def waiting(self) -> int:
        return sum(partition.waiting for partition in self.partitions)

    @property
    def handed_at(self) -> datetime | None:
        return max((partition.handed_at for partition in self.partitions if partition.handed_at), default=None)

    @property
    def pulled_at(self) -> datetime | None:
        """The last pull known of: sightings are up to 15 s late, hand-outs are exact."""
        served = [partition.served_at for partition in self.partitions]
        return max((moment for moment in (self.seen_at, self.handed_at, *served) if moment), default=None)


def statuses(consumers: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Status]:
    """By (topic id, consumer id); one that is gone is missing."""
    asked = list(consumers)
    topics, ids = [topic for topic, _ in asked], [consumer for _, consumer in asked]
    (rows,) = sql.run((STATUS, {"topics": topics, "consumers": ids}))
    return {(row[0], row[1]): _status(row, rows_of_one) for row, rows_of_one in _grouped(rows)}


def _grouped(rows: list[sql.Row]) -> Iterable[tuple[sql.Row, list[sql.Row]]]:
    for _, group in groupby(rows, key=lambda row: row[:2]):
        rows_of_one = list(group)
        yield rows_of_one[0], rows_of_one


def _status(row: sql.Row, rows_of_one: list[sql.Row]) -> Status:
    return Status(*(*row[:20], [_partition(one[20:]) for one in rows_of_one]))


def _partition(row: sql.Row) -> PartitionStatus:
    return PartitionStatus(*(*row[:14], OldestLease(*row[14:]) if row[14] is not None else None))
