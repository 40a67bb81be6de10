"""Events of a topic as events of a queue: the structured JSON is the payload, the place in the log the idempotency key."""

import time
from collections.abc import Sequence

from django.conf import settings

from apps.destinations.forward.fill import event_of, fill, fill_key, is_fixed
from apps.destinations.forward.line import Held, Line
from apps.queues.models import Queue
from apps.queues.operations.enqueue import NewEvent, enqueue
from apps.queues.selectors import QueueRow, standing
from core.errors import NotFound

LOOK_AT_DEPTH_SECONDS = 5.0

_full_until: dict[int, tuple[float, bool]] = {}


def ready(line: Line) -> None:
    if is_fixed(line.target["queue"]):
        _queue(line.target["queue"])


def prepare(line: Line, key: str, text: str) -> tuple[str, NewEvent]:
    """With the name of its queue."""
    target = line.target
    if is_fixed(target["queue"]) and target["groupKey"] is None:
        return target["queue"], NewEvent(payload=text, idempotency_key=key)
    event = event_of(text)
    group = None if target["groupKey"] is None else fill_key(target["groupKey"], event)
    return fill(target["queue"], event), NewEvent(payload=text, idempotency_key=key, group_key=group)


def send(line: Line, events: Sequence[tuple[str, NewEvent]]) -> None:
    """In order; a queue that is missing, paused or full holds the destination."""
    by_queue: dict[str, list[NewEvent]] = {}
    for name, event in events:
        by_queue.setdefault(name, []).append(event)
    for name, new in by_queue.items():
        try:
            enqueue(_queue(name), new)
        except NotFound:
            raise _missing(name) from None


def _queue(name: str) -> QueueRow:
    """Raises Held."""
    found = Queue.objects.filter(name=name, deleted_at=None).first()
    if found is None:
        raise _missing(name)
    if found.paused_at is not None:
        raise Held("target_paused", f"the queue {name} is paused")
    if _is_full(found.id):
        raise Held("target_full", f"the queue {name} holds more than {settings.TOWPATH['FULL_QUEUE_EVENTS']:,} events")
    return QueueRow(
        found.id, found.uid, found.name, found.max_attempts, found.default_lease_seconds,
        found.retry_first_seconds, found.retry_max_seconds,
    )  # fmt: skip


def _missing(name: str) -> Held:
    return Held("target_missing", f"there is no queue {name}")


def _is_full(queue: int) -> bool:
    """By the samples, which are up to 15 s old: a bound for a queue nobody empties, not a limit to the event."""
    until, full = _full_until.get(queue, (0.0, False))
    if until < time.monotonic():
        found = standing(queue)
        full = found is not None and found.now.depth >= settings.TOWPATH["FULL_QUEUE_EVENTS"]
        _full_until[queue] = (time.monotonic() + LOOK_AT_DEPTH_SECONDS, full)
    return full
