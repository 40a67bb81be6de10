"""Samples of lag, as charts, trends and metrics read them: all say the time they are of."""

from dataclasses import dataclass
from datetime import datetime

from apps.destinations.selectors.outcomes import COUNTED
from core import sql

LAG_HISTORY = sql.statement(__file__, "lag_history")
LATEST_LAG = sql.statement(__file__, "latest_lag")


@dataclass(frozen=True)
class Sample:
    at: datetime
    lag_events: int
    lag_seconds: float | None
    in_flight: int
    waiting: int
    head: int
    """Events appended so far, over all partitions: the difference of two samples is what came in."""
    settled: int
    """Events acknowledged or given up so far, wherever the position was moved: the difference is what went out."""
    state: str | None
    cause: str | None


@dataclass(frozen=True)
class LatestSample:
    kind: str
    topic: str
    name: str
    at: datetime
    lag_events: int
    lag_seconds: float | None
    in_flight: int
    waiting: int
    state: str | None
    cause: str | None
    dead: int
    """Dead letters now, counted up to COUNTED."""


def history(topic_id: int, consumer_id: int, seconds: int) -> list[Sample]:
    """The samples of the last so many seconds, oldest first: 15 s apart for a day, five minutes before that."""
    wanted = {"topic_id": topic_id, "consumer_id": consumer_id, "seconds": seconds}
    return [Sample(*row) for row in sql.run((LAG_HISTORY, wanted))[0]]


def latest() -> list[LatestSample]:
    """The newest of each destination and group; one that was not sampled for five minutes is missing, not 0."""
    return [LatestSample(*row) for row in sql.run((LATEST_LAG, {"most": COUNTED}))[0]]
