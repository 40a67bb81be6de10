"""Enqueueing: all events of a call or none, in their order, each idempotency key once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.queues.selectors import QueueRow
from core import notices, sql
from core.errors import NotFound
from core.ids import uuid7

LOCK_GROUPS = sql.statement(__file__, "lock_groups")
RESERVE_KEYS = sql.statement(__file__, "reserve_keys")
ENQUEUE = sql.statement(__file__, "enqueue")


@dataclass(frozen=True)
class NewEvent:
    """`payload` is the JSON text as sent. `scheduled_at` or `delay` seconds; neither means now."""

    payload: str
    scheduled_at: datetime | None = None
    delay: int = 0
    priority: int = 0
    group_key: str | None = None
    idempotency_key: str | None = None
    id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True)
class Enqueued:
    id: UUID
    scheduled_at: datetime
    duplicate: bool


def enqueue(queue: QueueRow, events: Sequence[NewEvent], schedule: UUID | None = None) -> list[Enqueued]:
    """Raises NotFound when the queue has just been deleted."""
    columns = _columns(events)
    values = {"queue": queue.id, "schedule": schedule, **columns}
    keyed = any(columns["keys"])
    steps = [(LOCK_GROUPS, values)] if any(columns["groups"]) else []
    steps += [(RESERVE_KEYS, values)] if keyed else []
    rows = sql.run(*steps, (ENQUEUE, values))
    inserted = {row[0]: row[1] for row in rows[-1]}
    owners = {key: (owner, moment) for key, owner, moment in (rows[-2] if keyed else [])}
    answers = [_answer(event, inserted, owners) for event in events]
    if inserted:
        # Delayed ones count too: a waiter has to learn of the new time to sleep until.
        notices.publish(queue.notice_key, len(inserted))
    return answers


def _columns(events: Sequence[NewEvent]) -> dict[str, list[Any]]:
    return {
        "ids": [event.id for event in events],
        "payloads": [event.payload for event in events],
        "scheduled": [event.scheduled_at for event in events],
        "delays": [event.delay for event in events],
        "priorities": [event.priority for event in events],
        "groups": [event.group_key for event in events],
        "keys": [event.idempotency_key for event in events],
    }


def _answer(event: NewEvent, inserted: dict[UUID, datetime], owners: dict[str | None, tuple[UUID, datetime]]) -> Enqueued:
    if event.id in inserted:
        return Enqueued(event.id, inserted[event.id], duplicate=False)
    if event.idempotency_key not in owners or owners[event.idempotency_key][0] == event.id:
        raise NotFound("There is no such queue.")
    owner, moment = owners[event.idempotency_key]
    return Enqueued(owner, moment, duplicate=True)
