"""What the overview shows: first what stands still and why, then how much there is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from apps.console.health import PROOF_SECONDS
from apps.console.models import BeatProof
from apps.destinations.models import Destination
from apps.destinations.selectors.standing import Standing, standings
from apps.destinations.selectors.trend import Consumer, Trend, trends

LISTED = 50
SAMPLED_SECONDS, SAMPLED_STEP = 3600, 120

# The most urgent first; what is not here needs nobody.
URGENCY = (
    "disabled",
    "retention_near",
    "target_missing",
    "breaker_open",
    "window_full",
    "too_many_unsettled",
    "held_by_lease",
    "partition_stalled",
    "target_full",
    "target_paused",
    "no_pull",
    "paused",
)
WORST = URGENCY[:4]


@dataclass(frozen=True)
class Beat:
    proved_at: datetime | None
    is_silent: bool


@dataclass(frozen=True)
class Overview:
    as_of: datetime
    attention: Sequence[Standing]
    """The destinations that need somebody, the most urgent first, at most LISTED."""
    more: int
    total: int
    lag_events: int
    lag_seconds: float | None
    in_flight: int
    waiting: int
    rate_in: float | None
    rate_out: float | None
    beat: Beat
    lag: Sequence[tuple[datetime, float]]


def overview() -> Overview:
    """Two queries for any number of destinations, and one for their names."""
    found = standings(Destination.objects.all())
    urgent = sorted((each for each in found if each.cause.code in URGENCY), key=_urgency)
    history = trends(((each.status.topic_id, each.status.consumer_id) for each in found), SAMPLED_SECONDS, SAMPLED_STEP)
    lags = [each.status.lag_seconds for each in found]
    return Overview(
        as_of=timezone.now(),
        attention=urgent[:LISTED],
        more=max(0, len(urgent) - LISTED),
        total=len(found),
        lag_events=sum(each.status.lag_events for each in found),
        lag_seconds=None if None in lags else max((lag for lag in lags if lag is not None), default=0.0),
        in_flight=sum(each.status.in_flight for each in found),
        waiting=sum(each.status.waiting for each in found),
        rate_in=_together(trend.rate_in for trend in history.values()),
        rate_out=_together(trend.rate_out for trend in history.values()),
        beat=_beat(),
        lag=_summed(history),
    )


def _urgency(each: Standing) -> tuple[int, str]:
    return URGENCY.index(each.cause.code), each.destination.name


def _beat() -> Beat:
    """By the row that a beat writes through broker and worker; the same that /readyz looks at."""
    proof = BeatProof.objects.annotate(age=Now() - F("proved_at")).first()
    if proof is None:
        return Beat(None, True)
    return Beat(proof.proved_at, proof.age.total_seconds() > PROOF_SECONDS)


def _together(rates: Iterable[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known else None


def _summed(history: dict[Consumer, Trend]) -> list[tuple[datetime, float]]:
    """The lag of all destinations together, step by step."""
    steps: dict[datetime, float] = {}
    for trend in history.values():
        for step in trend.steps:
            steps[step.at] = steps.get(step.at, 0.0) + step.lag_events
    return sorted(steps.items())
