"""What the sweeps do, queue by queue and in small batches. They only tidy: claims decide expiry without them."""

import logging
from collections.abc import Callable
from datetime import timedelta

from django.db.models.functions import Now

from apps.queues.models import Queue
from apps.queues.operations.enqueue import LOCK_GROUPS
from core import notices, sql

EXHAUSTED = sql.statement(__file__, "exhausted")
PARK = sql.statement(__file__, "park")
RELEASE_GROUPS = sql.statement(__file__, "release_groups")
DISCARD = sql.statement(__file__, "discard")
PURGEABLE = sql.statement(__file__, "purgeable")
HEADLESS = sql.statement(__file__, "headless")
FORGET_GROUPS = sql.statement(__file__, "forget_groups")
FORGET_KEYS = sql.statement(__file__, "forget_keys")
FORGET_DELETED = sql.statement(__file__, "forget_deleted")

logger = logging.getLogger(__name__)

BATCHES = 100
LIVING = ["ready", "waiting", "leased", "blocked"]
# No statement runs for longer (settings), so no enqueueing that began before a purge can still commit after this time.
PURGE_SETTLES_AFTER = timedelta(seconds=60)


def every_queue(work: Callable[[int], int]) -> int:
    """One queue after the other: a distributed PostgreSQL locks rows of one at a time only."""
    return sum(_safely(work, number) for number in Queue.objects.filter(deleted_at=None).values_list("id", flat=True))


def _safely(work: Callable[[int], int], queue: int) -> int:
    """One queue's error, such as a lock not had in time, is logged and never keeps the others from being swept."""
    try:
        return work(queue)
    except Exception:
        logger.exception("queues.not_swept", extra={"queue_id": queue})
        return 0


def park_exhausted(queue: int) -> int:
    """Events whose last lease ended become dead letters; the next of their keys come forward."""
    (rows,) = sql.run((EXHAUSTED, {"queue": queue}))
    if not rows:
        return 0
    ids, groups = [row[0] for row in rows], [row[1] for row in rows if row[1] is not None]
    return _settle(queue, groups, (PARK, {"queue": queue, "ids": ids}))


def discard(queue: int, ids: list[object], groups: list[str], states: list[str]) -> int:
    """Removes those of the events that are in one of the states; returns how many."""
    return _settle(queue, groups, (DISCARD, {"queue": queue, "ids": ids, "states": states}))


def _settle(queue: int, groups: list[str], step: tuple[sql.Statement, dict[str, object]]) -> int:
    """Locks the keys, runs the step, lets the next of each key come forward; one transaction, one round trip."""
    keys = {"queue": queue, "groups": groups}
    if not groups:
        return len(sql.run(step)[0])
    _, settled, released = sql.run((LOCK_GROUPS, keys), step, (RELEASE_GROUPS, keys))
    if released:
        notices.publish(f"queue:{queue}", len(released))
    return len(settled)


def purge(queue: int, upto: int, dead_too: bool, batches: int = BATCHES) -> int:
    """Deletes events up to that number in batches of 2,000; returns how many."""
    states = [*LIVING, "dead"] if dead_too else LIVING
    removed, after = 0, "00000000-0000-0000-0000-000000000000"
    for _ in range(batches):
        (rows,) = sql.run((PURGEABLE, {"queue": queue, "after": after, "upto": upto, "dead_too": dead_too}))
        if not rows:
            break
        groups = [row[1] for row in rows if row[1] is not None]
        removed += discard(queue, [row[0] for row in rows], groups, states)
        after = rows[-1][0]
    return removed


def finish_purges() -> int:
    """Goes on with purges that were too large for one call, and with what was being enqueued while they began."""
    found = Queue.objects.filter(deleted_at=None, purged_to__gt=0).values_list("id", flat=True)
    return sum(_safely(_finish_purge, number) for number in found)


def _finish_purge(number: int) -> int:
    queue = Queue.objects.filter(id=number, deleted_at=None).first()
    if queue is None:
        return 0
    removed = purge(queue.id, queue.purged_to, queue.purge_dead)
    if not removed:
        settled = Now() - PURGE_SETTLES_AFTER
        Queue.objects.filter(id=queue.id, purged_to=queue.purged_to, purged_at__lt=settled).update(purged_to=0)
    return removed


def remove_deleted() -> int:
    """Empties deleted queues, and removes their row when nothing of them is left."""
    found = Queue.objects.filter(deleted_at__lt=Now()).values_list("id", flat=True)
    return sum(_safely(_remove_deleted, number) for number in found)


def _remove_deleted(number: int) -> int:
    removed: int = purge(number, 2**63 - 1, dead_too=True) + sql.run((FORGET_DELETED, {"queue": number}))[0][0][0]
    if not removed:
        Queue.objects.filter(id=number, deleted_at__lt=Now() - PURGE_SETTLES_AFTER).delete()
    return removed


def repair_groups(queue: int) -> int:
    """Keys without a head get one; counts them. Anything but 0 is a bug elsewhere."""
    repaired, after = 0, ""
    while rows := sql.run((HEADLESS, {"queue": queue, "after": after}))[0]:
        after = rows[-1][0]
        if headless := [key for key, lacks in rows if lacks]:
            keys = {"queue": queue, "groups": headless}
            repaired += len(sql.run((LOCK_GROUPS, keys), (RELEASE_GROUPS, keys))[1])
    return repaired


def forget(queue: int) -> int:
    """Removes idempotency keys whose day is over, and group keys nobody uses."""
    values = {"queue": queue}
    return sum(len(rows) for rows in sql.run((FORGET_KEYS, values), (FORGET_GROUPS, values)))
