"""Reads: queues as calls need them, events and dead letters by state, what an empty claim waits for."""

from collections.abc import Iterable
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
STANDING = sql.statement(__file__, "standing")
HOLDER = sql.statement(__file__, "holder")
NEXT_DUE = sql.statement(__file__, "next_due")
LAST_SAMPLE = sql.statement(__file__, "last_sample")


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
class Standing:
    """What is known of an event and a token that no longer holds it."""

    known: bool
    outcome: str | None
    scheduled_at: datetime | None


def standing(queue: int, event: UUID, token: UUID | None) -> Standing:
    (rows,) = sql.run((STANDING, {"queue": queue, "id": event, "token": token}))
    return Standing(*rows[0])


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


# The column by which the index of each state is ordered: a list in that order reads only what it shows.
ORDER = {
    State.READY: ("-priority", "scheduled_at", "n"),
    State.WAITING: ("due_at", "n"),
    State.LEASED: ("due_at", "n"),
    State.BLOCKED: ("group_key", "n"),
    State.DEAD: ("-died_at", "-n"),
}


def events(queue: int, states: Iterable[State], after: tuple[Any, ...] | None = None) -> QuerySet[QueueEvent]:
    """Events in the states, by id; literal states let PostgreSQL use the partial index of each."""
    found = QueueEvent.objects.filter(queue_id=queue, state__in=[state.value for state in states]).order_by("id")
    return found.filter(id__gt=after[0]) if after else found


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


def last_samples(queue: int) -> list[Sample]:
    """The newest and the one before, or fewer."""
    (rows,) = sql.run((LAST_SAMPLE, {"queue": queue}))
    return [Sample(*row) for row in rows]
