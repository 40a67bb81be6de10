"""How lag went lately, from the samples that beat takes, and which workers came by."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from core import sql

TREND = sql.statement(__file__, "trend")
WORKERS = sql.statement(__file__, "workers")

Consumer = tuple[int, int]


@dataclass(frozen=True)
class Step:
    at: datetime
    lag_events: int
    lag_seconds: float | None
    head: int
    settled: int
    in_flight: int
    waiting: int


@dataclass(frozen=True)
class Trend:
    steps: tuple[Step, ...] = ()

    @property
    def settled_at(self) -> datetime | None:
        """The step in which something was last settled; None: not in this time."""
        pairs = zip(reversed(self.steps[:-1]), reversed(self.steps[1:]), strict=True)
        return next((later.at for earlier, later in pairs if later.settled > earlier.settled), None)

    @property
    def rate_in(self) -> float | None:
        return self._rate("head")

    @property
    def rate_out(self) -> float | None:
        return self._rate("settled")

    def _rate(self, field: str) -> float | None:
        """Events a second over the whole time; None: fewer than two samples."""
        if len(self.steps) < 2:
            return None
        first, last = self.steps[0], self.steps[-1]
        grown: int = getattr(last, field) - getattr(first, field)
        return max(0, grown) / (last.at - first.at).total_seconds()


def trends(consumers: Iterable[Consumer], seconds: int, step: int) -> dict[Consumer, Trend]:
    """By (topic id, consumer id); those without samples are missing."""
    asked = list(consumers)
    topics, ids = [topic for topic, _ in asked], [consumer for _, consumer in asked]
    (rows,) = sql.run((TREND, {"topics": topics, "consumers": ids, "seconds": seconds, "step": step}))
    grouped = groupby(rows, key=lambda row: (row[0], row[1]))
    return {consumer: Trend(tuple(Step(*row[2:]) for row in group)) for consumer, group in grouped}


def workers(topic_id: int, consumer_id: int, limit: int) -> list[tuple[str, datetime]]:
    (rows,) = sql.run((WORKERS, {"topic_id": topic_id, "consumer_id": consumer_id, "limit": limit}))
    return [(worker, seen_at) for worker, seen_at in rows]
