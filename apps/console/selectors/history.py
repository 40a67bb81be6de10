"""How everything together went over time, from the samples of the overview."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from core import sql
from core.words import age

OVERVIEW_HISTORY = sql.statement(__file__, "overview_history")

# What the charts show: seconds back, and seconds a point.
SPANS = {"1h": (3_600, 30), "24h": (86_400, 600), "7d": (604_800, 3_600)}
Points = list[tuple[datetime, float | None]]


@dataclass(frozen=True)
class Chart:
    title: str
    unit: str
    points: Points


@dataclass(frozen=True)
class _Sample:
    at: datetime
    appended: int
    settled: int
    lag_events: int
    in_flight: int
    waiting: int
    queued: int
    queued_dead: int
    connections: int


@dataclass(frozen=True)
class History:
    rate_in: float | None
    """Events a second over the whole span; None: not known."""
    rate_out: float | None
    charts: Sequence[Chart]


def history(span: str) -> History:
    seconds, step = SPANS[span]
    (rows,) = sql.run((OVERVIEW_HISTORY, {"seconds": seconds, "step": step}))
    found = [_Sample(*row) for row in rows]
    return History(_rate(found, "appended"), _rate(found, "settled"), _charts(found, step))


def _rate(found: Sequence[_Sample], field: str) -> float | None:
    if len(found) < 2:
        return None
    grown: int = getattr(found[-1], field) - getattr(found[0], field)
    return grown / (found[-1].at - found[0].at).total_seconds() if grown >= 0 else None


def _charts(found: Sequence[_Sample], step: int) -> list[Chart]:
    average = f"events/s, average over {age(step)}"
    return [
        Chart(f"Events in, {average}", "events/s", _rates(found, "appended", step)),
        Chart(f"Events settled by destinations, {average}", "events/s", _rates(found, "settled", step)),
        Chart("Lag of all destinations", "events", _levels(found, "lag_events", step)),
        Chart("Events leased", "events", _levels(found, "in_flight", step)),
        Chart("Depth of all queues", "events", _levels(found, "queued", step)),
        Chart("Live connections", "", _levels(found, "connections", step)),
    ]


def _levels(found: Sequence[_Sample], field: str, step: int) -> Points:
    points: Points = []
    for sample in found:
        if points and _is_gap(points[-1][0], sample.at, step):
            points.append((sample.at, None))
        points.append((sample.at, float(getattr(sample, field))))
    return points


def _rates(found: Sequence[_Sample], field: str, step: int) -> Points:
    """Between two samples; nothing is known across a gap, nor where the sum fell since something was deleted."""
    points: Points = []
    for earlier, later in pairwise(found):
        grown: int = getattr(later, field) - getattr(earlier, field)
        known = grown >= 0 and not _is_gap(earlier.at, later.at, step)
        points.append((later.at, grown / (later.at - earlier.at).total_seconds() if known else None))
    return points


def _is_gap(earlier: datetime, later: datetime, step: int) -> bool:
    return (later - earlier).total_seconds() > 2.5 * step
