"""What an operator does to single events: redrive or discard a dead one, run or discard a living one."""

from uuid import UUID

from django.db import transaction

from apps.access import audit
from apps.queues.models import QueueEvent
from apps.queues.operations import sweep
from apps.queues.operations.enqueue import LOCK_GROUPS, Enqueued
from apps.queues.selectors import QueueRow
from core import notices, sql
from core.errors import NotFound
from core.ids import uuid7

REDRIVE = sql.statement(__file__, "redrive")
RUN_NOW = sql.statement(__file__, "run_now")


@transaction.atomic
def redrive(actor: audit.Actor, queue: QueueRow, event: UUID, reason: str = "") -> Enqueued:
    """A new event with a fresh budget at the end of its key; the dead one is gone. Raises NotFound, also the second time."""
    dead = _find(queue, event, ["dead"])
    values = {"queue": queue.id, "id": event, "new_id": uuid7()}
    _, rows = sql.run((LOCK_GROUPS, {"queue": queue.id, "groups": [dead.group_key]}), (REDRIVE, values))
    if not rows:
        raise NotFound("There is no such dead letter.")
    new_id, moment, _ = rows[0]
    _record(actor, "redrive", queue, event, reason, {"id": str(new_id)})
    notices.publish(queue.notice_key)
    return Enqueued(new_id, moment, duplicate=False)


@transaction.atomic
def discard(actor: audit.Actor, queue: QueueRow, event: UUID, states: list[str], reason: str = "") -> QueueEvent:
    """Removes an event in one of the states, and returns what it was; a worker that holds it gets 409 later.

    Raises NotFound.
    """
    found = _find(queue, event, states)
    groups = [] if found.group_key is None else [found.group_key]
    if not sweep.discard(queue.id, [event], groups, states):
        raise NotFound("There is no such event.")
    _record(actor, "discard", queue, event, reason, None)
    return found


@transaction.atomic
def run_now(actor: audit.Actor, queue: QueueRow, event: UUID, reason: str = "") -> None:
    """Makes a scheduled or retrying event ready. Raises NotFound when it does not wait."""
    (rows,) = sql.run((RUN_NOW, {"queue": queue.id, "id": event}))
    if not rows:
        raise NotFound("There is no such waiting event.")
    _record(actor, "run-now", queue, event, reason, None)
    notices.publish(queue.notice_key)


def _find(queue: QueueRow, event: UUID, states: list[str]) -> QueueEvent:
    found = QueueEvent.objects.filter(queue_id=queue.id, id=event, state__in=states).first()
    if found is None:
        raise NotFound("There is no such event.")
    return found


def _record(actor: audit.Actor, verb: str, queue: QueueRow, event: UUID, reason: str, after: dict[str, str] | None) -> None:
    audit.record(actor, verb, "queue-event", queue.name, object_id=event, after=after, reason=reason)
