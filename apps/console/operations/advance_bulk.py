"""Works off what bulk operations have frozen: each item is a transaction of its own, done by the same operation as by hand.

A worker that is killed leaves the item it was at as it was; two workers never have the same one (SKIP LOCKED).
"""

import time
from collections.abc import Callable
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import F
from django.db.models.functions import Now

from apps.access.scopes import Principal
from apps.console.models import Bulk, BulkItem, Objects
from apps.destinations.operations import dead_letters, pause
from apps.queues.operations import dead_letters as queue_dead_letters
from apps.queues.operations import queues
from apps.queues.selectors import find_queue
from core.errors import Conflict, DomainError, NotFound

INTERVAL = 5  # seconds from one run to the next, as config.schedule has it
BUDGET_SECONDS = 4.0
TURN = 50  # items of one before the next has its turn
RUNNING, DONE, SKIPPED, FAILED = "running", "done", "skipped", "failed"


def advance() -> int:
    """Gives every running one its turns until the time is over; returns how many items were worked off."""
    deadline, worked = time.monotonic() + BUDGET_SECONDS, 0
    left = {bulk: _allowance(bulk) for bulk in Bulk.objects.filter(state=RUNNING).order_by("id")}
    while left and time.monotonic() < deadline:
        for bulk, allowed in list(left.items()):
            done = _turn(bulk, min(TURN, allowed), deadline)
            worked += done
            left[bulk] = allowed - done
            if done < TURN or left[bulk] <= 0:
                del left[bulk]
    return worked


def _allowance(bulk: Bulk) -> int:
    return bulk.total + 1 if bulk.rate is None else bulk.rate * INTERVAL  # one more: to see that none is left


def _turn(bulk: Bulk, most: int, deadline: float) -> int:
    for number in range(most):
        if time.monotonic() >= deadline or not _next(bulk):
            return number
    return most


def _next(bulk: Bulk) -> bool:
    """False when there is none left, or it was cancelled."""
    with transaction.atomic():
        found = BulkItem.objects.select_for_update(skip_locked=True, of=("self",)).filter(
            bulk_id=bulk.pk, state=BulkItem.State.PENDING, bulk__state=RUNNING
        )
        item = found.order_by("n").first()
        if item is None:
            _end(bulk)
            return False
        state, note = _act(bulk, item)
        BulkItem.objects.filter(bulk_id=bulk.pk, n=item.n).update(state=state, note=note)
        Bulk.objects.filter(pk=bulk.pk).update(**{state: F(state) + 1})
    return True


def _end(bulk: Bulk) -> None:
    """Only once nothing is pending: another worker may still be at the last ones."""
    waits = BulkItem.objects.filter(bulk_id=bulk.pk, state=BulkItem.State.PENDING)
    if not waits.exists():
        Bulk.objects.filter(pk=bulk.pk, state=RUNNING).update(state=Bulk.State.DONE, ended_at=Now())


def _act(bulk: Bulk, item: BulkItem) -> tuple[str, str]:
    """What became of it. What is gone or settled already is skipped; whatever else goes wrong is that item's alone."""
    try:
        with transaction.atomic():
            ACTS[bulk.objects_kind, bulk.verb](_actor(bulk), item, f"{bulk.reason} (bulk {bulk.pk})")
    except (NotFound, Conflict) as error:
        return SKIPPED, error.message
    except (DomainError, DatabaseError) as error:
        return FAILED, str(getattr(error, "message", error))[:500]
    return DONE, ""


def _actor(bulk: Bulk) -> Principal:
    """Whoever began it, as the audit trail names them; it gives no right to anything."""
    return Principal(bulk.actor_kind, bulk.actor_id, bulk.actor_name, ())  # type: ignore[arg-type]


Act = Callable[[Principal, BulkItem, str], object]


def _letter(item: BulkItem) -> UUID:
    assert item.target is not None
    return item.target


ACTS: dict[tuple[str, str], Act] = {
    (Objects.DEAD_LETTERS, "redrive"): lambda actor, item, why: dead_letters.redrive(
        actor, str(item.home), _letter(item), reason=why
    ),
    (Objects.DEAD_LETTERS, "discard"): lambda actor, item, why: dead_letters.discard(
        actor, str(item.home), _letter(item), reason=why
    ),
    (Objects.QUEUE_DEAD_LETTERS, "redrive"): lambda actor, item, why: queue_dead_letters.redrive(
        actor, find_queue(str(item.home)), _letter(item), why
    ),
    (Objects.QUEUE_DEAD_LETTERS, "discard"): lambda actor, item, why: queue_dead_letters.discard(
        actor, find_queue(str(item.home)), _letter(item), ["dead"], why
    ),
    (Objects.DESTINATIONS, "pause"): lambda actor, item, why: pause.pause(actor, str(item.home), reason=why),
    (Objects.DESTINATIONS, "resume"): lambda actor, item, why: pause.resume(actor, str(item.home), reason=why),
    (Objects.QUEUES, "pause"): lambda actor, item, why: queues.pause(actor, find_queue(str(item.home)).id, why),
    (Objects.QUEUES, "resume"): lambda actor, item, why: queues.resume(actor, find_queue(str(item.home)).id, why),
}
