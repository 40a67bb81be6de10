"""What the overview shows: first what needs somebody, then how much there is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Now

from apps.console.health import PROOF_SECONDS
from apps.console.models import BeatProof
from apps.console.selectors.attention import Need, of_dead_letters, of_destinations, of_queues, of_schedules, of_sweeps
from apps.console.selectors.history import History, history
from apps.destinations.models import Destination
from apps.destinations.selectors.standing import Standing, standings
from apps.queues.models import Queue
from apps.queues.selectors import standings as queue_standings

LISTED = 50
QUEUES = 1_000


@dataclass(frozen=True)
class Beat:
    proved_at: datetime | None
    is_silent: bool


@dataclass(frozen=True)
class Reading:
    """All destinations together."""

    number: int
    lag_events: int
    lag_seconds: float | None
    in_flight: int
    waiting: int


@dataclass(frozen=True)
class Queued:
    """All queues together, by their samples."""

    number: int
    ready: int
    in_flight: int
    dead: int


@dataclass(frozen=True)
class Overview:
    beat: Beat
    needs: Sequence[Need]
    """The most urgent first, at most LISTED."""
    more: int
    reading: Reading
    queued: Queued
    history: History


def overview(span: str) -> Overview:
    """A handful of queries for any number of destinations and queues."""
    found = standings(Destination.objects.all())
    queues = list(Queue.objects.filter(deleted_at=None)[:QUEUES])
    samples = {number: each.now for number, each in queue_standings([queue.pk for queue in queues]).items()}
    needs = [*of_destinations(found), *of_queues(queues, samples), *of_schedules()]
    needs += [*of_dead_letters(), *of_sweeps()]
    needs.sort(key=lambda need: (need.rank, need.name))
    return Overview(
        beat=_beat(),
        needs=needs[:LISTED],
        more=max(0, len(needs) - LISTED),
        reading=_reading(found),
        queued=Queued(
            number=len(queues),
            ready=sum(sample.ready for sample in samples.values()),
            in_flight=sum(sample.in_flight for sample in samples.values()),
            dead=sum(sample.dead for sample in samples.values()),
        ),
        history=history(span),
    )


def _beat() -> Beat:
    """By the row that a beat writes through broker and worker; the same that /readyz looks at."""
    proof = BeatProof.objects.annotate(age=Now() - F("proved_at")).first()
    if proof is None:
        return Beat(None, True)
    return Beat(proof.proved_at, proof.age.total_seconds() > PROOF_SECONDS)


def _reading(found: Sequence[Standing]) -> Reading:
    lags = [each.status.lag_seconds for each in found]
    return Reading(
        number=len(found),
        lag_events=sum(each.status.lag_events for each in found),
        lag_seconds=None if None in lags else max((lag for lag in lags if lag is not None), default=0.0),
        in_flight=sum(each.status.in_flight for each in found),
        waiting=sum(each.status.waiting for each in found),
    )
