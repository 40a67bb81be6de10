"""Reads: queues as calls need them, events and dead letters by state, what an empty claim waits for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.queues.models import QueueEvent, State
from core import sql
from core.errors import NotFound
from core.names import as_uuid

QUEUE = sql.statement(__file__, "queue")
OUTCOME = sql.statement(__file__, "outcome")
OUTCOMES = sql.statement(__file__, "outcomes")
HOLDER = sql.statement(__file__, "holder")
NEXT_DUE = sql.statement(__file__, "next_due")
LAST_SAMPLES = sql.statement(__file__, "last_samples")
TREND = sql.statement(__file__, "trend")


@dataclass(frozen=True)
class QueueRow:
    """A live queue as a hot call needs it. Whether it is paused or gone is decided by the statement itself, later."""

    id: int
    uid: UUID
    name: str
    max_attempts: int
    default_lease_seconds: int
    retry_first_seconds: int
    retry_max_seconds: int

    @property
    def notice_key(self) -> str:
        return f"queue:{self.id}"


def find_queue(text: str) -> QueueRow:
    """By name or uid. Raises NotFound."""
    uid = as_uuid(text)
    return _queue(name=None if uid else text, uid=uid, id=None)


def queue_of(number: int) -> QueueRow:
    """By the number inside. Raises NotFound."""
    return _queue(name=None, uid=None, id=number)


def _queue(**key: Any) -> QueueRow:
    (rows,) = sql.run((QUEUE, key))
    if not rows:
        raise NotFound("There is no such queue.")
    return QueueRow(*rows[0])


def queue_that_knows(event: UUID) -> QueueRow:
    """The slow way, for a token that names no queue. Raises NotFound."""
    (rows,) = sql.run((HOLDER, {"id": event}))
    if not rows:
        raise NotFound("There is no such event.")
    return queue_of(rows[0][0])


@dataclass(frozen=True)
class Outcome:
    """What is known of an event and a token that no longer holds it."""

    known: bool
    outcome: str | None
    scheduled_at: datetime | None


def outcome_of(queue: int, event: UUID, token: UUID) -> Outcome:
    (rows,) = sql.run((OUTCOME, {"queue": queue, "id": event, "token": token}))
    return Outcome(*rows[0])


def outcomes_of(queue: int, held: Sequence[tuple[UUID | None, UUID | None]]) -> list[Outcome]:
    """As outcome_of for each; None is an id or a token that nothing has."""
    ids, tokens = [event for event, _ in held], [token for _, token in held]
    (rows,) = sql.run((OUTCOMES, {"queue": queue, "ids": ids, "tokens": tokens}))
    return [Outcome(*row) for row in rows]


@dataclass(frozen=True)
class NextDue:
    paused: bool
    seconds: float | None


def next_due(queue: int) -> NextDue:
    """Raises NotFound once the queue is deleted."""
    (rows,) = sql.run((NEXT_DUE, {"queue": queue}))
    if not rows:
        raise NotFound("There is no such queue.")
    return NextDue(*rows[0])


def events(queue: int, states: Iterable[State], after: tuple[Any, ...] | None = None) -> QuerySet[QueueEvent]:
    """Events in the states, by id; literal states let PostgreSQL use the partial index of each."""
    found = QueueEvent.objects.filter(queue_id=queue, state__in=[state.value for state in states]).order_by("id")
    return found.filter(id__gt=after[0]) if after else found


def one_event(queue: int, event: UUID) -> QueueEvent:
    """Raises NotFound."""
    found = QueueEvent.objects.filter(queue_id=queue, id=event).first()
    if found is None:
        raise NotFound("There is no such event.")
    return found


def dead_letters(queue: int, after: tuple[datetime, int] | None = None) -> QuerySet[QueueEvent]:
    """The latest first."""
    found = QueueEvent.objects.filter(queue_id=queue, state="dead").order_by("-died_at", "-n")
    if after is None:
        return found
    # The first bound is the index's; the second orders those of one instant.
    return found.filter(died_at__lte=after[0]).exclude(died_at=after[0], n__gte=after[1])


@dataclass(frozen=True)
class Sample:
    """What a queue held `at` that time. Not `exact`: at least one figure stopped at the limit of counting."""

    at: datetime
    ready: int
    scheduled: int
    in_flight: int
    blocked: int
    dead: int
    exact: bool
    oldest_at: datetime | None
    settled: int

    @property
    def depth(self) -> int:
        return self.ready + self.scheduled + self.in_flight + self.blocked


@dataclass(frozen=True)
class Standing:
    """The newest sample, with what the one before makes of it."""

    now: Sample
    settled_per_second: float | None
    enqueued_per_second: float | None


def standing(queue: int) -> Standing | None:
    return standings([queue]).get(queue)


def standings(queues: Sequence[int]) -> dict[int, Standing]:
    """None is in it for a queue without a sample of the last hour."""
    (rows,) = sql.run((LAST_SAMPLES, {"queues": list(queues)}))
    found: dict[int, list[Sample]] = {}
    for number, *columns in rows:
        found.setdefault(number, []).append(Sample(*columns))
    return {number: _standing(samples) for number, samples in found.items()}


def _standing(samples: list[Sample]) -> Standing:
    now, *before = samples
    seconds = (now.at - before[0].at).total_seconds() if before else 0
    if not seconds:
        return Standing(now, None, None)
    # What came is what is there more than before, and what went; unknown where a figure stopped at the limit.
    came = now.depth - before[0].depth + now.settled if now.exact and before[0].exact else None
    return Standing(now, now.settled / seconds, None if came is None else max(0, came) / seconds)


def trend(queue: int, seconds: int, step: int) -> list[Sample]:
    (rows,) = sql.run((TREND, {"queue": queue, "seconds": seconds, "step": step}))
    return [Sample(*row) for row in rows]
