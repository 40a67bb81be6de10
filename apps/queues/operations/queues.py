"""Making, changing and ending queues. Each change writes its audit row in the same transaction."""

from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from apps.access import audit
from apps.queues.models import Queue
from apps.queues.operations import schedules, sweep
from apps.queues.operations.firing import fire_safely
from core import notices
from core.clock import rfc3339
from core.errors import InvalidField, NameTaken, NotFound
from core.names import check_name

SETTINGS = ("max_attempts", "default_lease_seconds", "retry_first_seconds", "retry_max_seconds")
EVERYONE = 1_000_000  # a notice that every waiter has to hear


def create(actor: audit.Actor, name: str, **settings: int) -> Queue:
    """Raises NameTaken or InvalidField."""
    check_name(name)
    _check_retry(Queue(**settings))
    try:
        with transaction.atomic():
            queue = Queue.objects.create(name=name, **settings)
            audit.record(actor, "create", "queue", name, object_id=queue.uid, after=_settings(queue))
    except IntegrityError as error:
        raise NameTaken("Another queue has this name.", field="name") from error
    return queue


@transaction.atomic
def change(actor: audit.Actor, number: int, **settings: int) -> Queue:
    queue = locked(number)
    before = _settings(queue)
    for name, value in settings.items():
        setattr(queue, name, value)
    _check_retry(queue)
    queue.save()
    audit.record(actor, "change", "queue", queue.name, object_id=queue.uid, before=before, after=_settings(queue))
    # A smaller maxAttempts or another default lease may concern those who wait now.
    notices.publish(key(queue))
    return queue


@transaction.atomic
def pause(actor: audit.Actor, number: int, reason: str = "") -> Queue:
    """Hands nothing out until resumed; what is leased may still be settled. Twice: the newer reason stands."""
    queue = locked(number)
    before = _pause(queue)
    Queue.objects.filter(id=number).update(paused_at=queue.paused_at or Now(), pause_reason=reason, updated_at=Now())
    queue.refresh_from_db()
    audit.record(actor, "pause", "queue", queue.name, object_id=queue.uid, before=before, after=_pause(queue), reason=reason)
    return queue


@transaction.atomic
def resume(actor: audit.Actor, number: int, reason: str = "") -> Queue:
    queue = locked(number)
    before = _pause(queue)
    queue.paused_at, queue.pause_reason = None, ""
    queue.save()
    audit.record(
        actor, "resume", "queue", queue.name, object_id=queue.uid, before=before, after=_pause(queue), reason=reason
    )
    notices.publish(key(queue), EVERYONE)
    return queue


def purge(actor: audit.Actor, number: int, *, dead_too: bool = False, reason: str = "") -> tuple[Queue, int]:
    """Removes what is enqueued by now, dead letters only if asked; returns how many were removed at once.

    From its commit on nothing purged is handed out. What is left after the first batches is deleted by the sweep.
    What schedules have planned ahead stays: it is not due yet. Raises NotFound.
    """
    with transaction.atomic():
        queue = locked(number)
        spared = schedules.spare(queue)
        upto = _latest_event()
        queue.purged_to, queue.purge_dead = upto, dead_too or (queue.purged_to > 0 and queue.purge_dead)
        queue.save()
        Queue.objects.filter(id=number).update(purged_at=Now())
        audit.record(
            actor, "purge", "queue", queue.name, object_id=queue.uid, after={"deadLetters": dead_too}, reason=reason
        )
        for schedule in spared:
            fire_safely(schedule)
    removed = sweep.purge(number, upto, dead_too)
    purged = Queue.objects.filter(id=number, deleted_at=None).first()
    if purged is None:
        raise NotFound("The queue was deleted.")
    return purged, removed


@transaction.atomic
def delete(actor: audit.Actor, number: int, reason: str = "") -> None:
    """Ends the queue, its schedules and every wait on it; what it held is removed by the sweep."""
    queue = locked(number)
    audit.record(actor, "delete", "queue", queue.name, object_id=queue.uid, before=_settings(queue), reason=reason)
    queue.schedules.all().delete()
    Queue.objects.filter(id=number).update(name=f"deleted/{number}", deleted_at=Now(), updated_at=Now())
    notices.publish(key(queue), EVERYONE)


def locked(number: int) -> Queue:
    """The live queue, for a change in the caller's transaction. Raises NotFound."""
    queue = Queue.objects.select_for_update().filter(id=number, deleted_at=None).first()
    if queue is None:
        raise NotFound("There is no such queue.")
    return queue


def key(queue: Queue) -> str:
    return f"queue:{queue.id}"


def _check_retry(queue: Queue) -> None:
    if queue.retry_first_seconds > queue.retry_max_seconds:
        raise InvalidField("Must not be more than retryMaxSeconds.", field="retryFirstSeconds")


def _latest_event() -> int:
    """A number that every event enqueued by now is below, and every later one above."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('queue_event_n_seq')")
        number: int = cursor.fetchone()[0]
    return number


def _settings(queue: Queue) -> dict[str, Any]:
    return {name: getattr(queue, name) for name in SETTINGS}


def _pause(queue: Queue) -> dict[str, Any]:
    return {"pausedAt": queue.paused_at and rfc3339(queue.paused_at), "reason": queue.pause_reason}
