"""Who holds what: leases of destinations, partitions of consumer groups, events of queues, in one list."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.queues.models import Queue
from core import sql
from core.clock import parse_time, rfc3339
from core.errors import DomainError
from core.names import as_uuid
from core.pages import decode_cursor
from core.sequence import sequence

LEASES = sql.statement(__file__, "leases")
ASSIGNMENTS = sql.statement(__file__, "assignments")
CLAIMS = sql.statement(__file__, "claims")

QUEUES = 1_000
LOOKED_AT = 20_000
"""Leased and waiting events of queues, all queues together: they share an index."""
KINDS = ("destination", "group", "queue")
SHAPES: tuple[list[type], ...] = ([int, int, int, str], [int, int, int, int], [int, int, str, str])
BEFORE_ALL = "0001-01-01T00:00:00Z"


@dataclass(frozen=True)
class Held:
    kind: str
    home_id: int | None
    home: str
    """Empty: just deleted."""
    id: UUID | None
    what: str
    events: int
    worker: str | None
    since: datetime | None
    visible_at: datetime
    state: str
    attempt: int | None
    error: str | None
    position: tuple[str | int, ...]
    """In its own list; of it a cursor is made."""


def leases(cursor: str, limit: int, worker: str | None = None, kind: str = "") -> list[Held]:
    """After the cursor; one that this list did not make is the beginning. Destinations first, then groups, then queues."""
    start, after = _place(cursor)
    found: list[Held] = []
    for number, name in enumerate(KINDS):
        if number >= start and kind in ("", name) and len(found) < limit:
            found += READERS[name](after if number == start else (), limit - len(found), worker)
    return found


def _place(cursor: str) -> tuple[int, tuple[str | int, ...]]:
    for number, shape in enumerate(SHAPES):
        try:
            kind, *rest = decode_cursor(cursor, shape)
        except DomainError:
            continue
        if kind == number and _is_sound(number, rest):
            return number, tuple(rest)
    return 0, ()


def _is_sound(kind: int, rest: list[str | int]) -> bool:
    try:
        at = kind != KINDS.index("queue") or parse_time(str(rest[1]), "after")
    except DomainError:
        return False
    return bool(at) and (kind == KINDS.index("group") or as_uuid(str(rest[2])) is not None)


def _of_destinations(after: tuple[str | int, ...], limit: int, worker: str | None) -> list[Held]:
    topic_id, consumer_id, lease_id = after or (0, 0, str(UUID(int=0)))
    asked = {"topic_id": topic_id, "consumer_id": consumer_id, "id": lease_id, "limit": limit, "worker": worker}
    return [_lease(*row) for row in sql.run((LEASES, asked))[0]]


def _lease(
    topic_id: int, consumer_id: int, lease_id: UUID, partition: int, first: int, then: int, events: int, generation: int,
    attempt: int, worker: str, error: str | None, leased_at: datetime, visible_at: datetime, state: str,
    home_id: int | None, home: str | None,
) -> Held:  # fmt: skip
    what, position = sequence(partition, first), (0, topic_id, consumer_id, str(lease_id))
    return Held(
        "destination", home_id, home or "", lease_id, what, events, worker, leased_at, visible_at, state, attempt, error,
        position,
    )  # fmt: skip


def _of_groups(after: tuple[str | int, ...], limit: int, worker: str | None) -> list[Held]:
    topic_id, consumer_id, partition = after or (0, 0, -1)
    asked = {"topic_id": topic_id, "consumer_id": consumer_id, "partition": partition, "limit": limit, "worker": worker}
    return [_assignment(*row) for row in sql.run((ASSIGNMENTS, asked))[0]]


def _assignment(
    topic_id: int, consumer_id: int, partition: int, offset: int, holder: str, until: datetime, token: int, topic: str,
    name: str,
) -> Held:  # fmt: skip
    what, position = f"partition {partition}, token {token}", (1, topic_id, consumer_id, partition)
    return Held(
        "group", topic_id, f"{topic}/{name}", None, what, 0, holder, None, until, "assigned", None, None, position
    )  # fmt: skip


def _of_queues(after: tuple[str | int, ...], limit: int, worker: str | None) -> list[Held]:
    names = dict(Queue.objects.filter(deleted_at=None).order_by("pk").values_list("pk", "name")[:QUEUES])
    queue_id, due_at, event = after or (0, BEFORE_ALL, str(UUID(int=0)))
    asked = {"queue_id": queue_id, "due_at": due_at, "id": event, "limit": limit, "worker": worker}
    reached = [number for number in names if number >= int(queue_id)]
    most = max(200, LOOKED_AT // max(1, len(reached)))
    rows = sql.run((CLAIMS, {**asked, "queues": reached, "most": most}))[0]
    return [_claim(names[row[0]], *row) for row in rows]


def _claim(
    name: str, queue_id: int, due_at: datetime, event: UUID, worker: str | None, attempts: int, error: str | None,
    key: str | None, state: str,
) -> Held:  # fmt: skip
    what, position = f"key {key}" if key else "", (2, queue_id, rfc3339(due_at), str(event))
    return Held("queue", queue_id, name, event, what, 1, worker, None, due_at, state, attempts, error, position)


Reader = Callable[[tuple[str | int, ...], int, str | None], list[Held]]
READERS: dict[str, Reader] = {"destination": _of_destinations, "group": _of_groups, "queue": _of_queues}
