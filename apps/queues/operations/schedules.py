"""Making, changing and ending schedules. An edit takes back what is not due yet; nothing fires because of it."""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from apps.access import audit
from apps.queues import timetable
from apps.queues.models import Queue, Schedule
from apps.queues.operations.enqueue import Enqueued, NewEvent, enqueue
from apps.queues.operations.firing import fire, last_due
from apps.queues.selectors import queue_of
from core import sql
from core.clock import rfc3339
from core.errors import InvalidField, NameTaken, NotFound
from core.names import check_name
from core.sql import database_time

TAKE_BACK = sql.statement(__file__, "take_back")
SHOWN = ("payload", "cron", "every_seconds", "time_zone", "enabled", "misfire")
KINDS = ("cron", "every_seconds", "at")


def create(actor: audit.Actor, queue: int, name: str, **settings: Any) -> Schedule:
    """Raises NameTaken, InvalidField, or NotFound when the queue has just been deleted."""
    check_name(name)
    now = database_time()
    schedule = Schedule(queue_id=queue, name=name, created_at=now, planned_until=now, **settings)
    _check(schedule, now)
    try:
        with transaction.atomic():
            # Locked, so that a deletion at this moment does not leave the schedule behind.
            if not Queue.objects.select_for_update().filter(id=queue, deleted_at=None).exists():
                raise NotFound("There is no such queue.")
            schedule.save(force_insert=True)
            audit.record(actor, "create", "schedule", name, object_id=schedule.uid, after=_shown(schedule))
            _plan(schedule)
    except IntegrityError as error:
        raise NameTaken("Another schedule has this name.", field="name") from error
    return schedule


@transaction.atomic
def change(actor: audit.Actor, number: int, reason: str = "", **settings: Any) -> Schedule:
    """A new kind of rule replaces the old one. Raises InvalidField."""
    schedule = _locked(number)
    before, now = _shown(schedule), database_time()
    schedule.last_due_at = last_due(schedule, now)  # by the rule that was in force until now
    if any(settings.get(kind) is not None for kind in KINDS):
        settings = dict.fromkeys(KINDS) | settings
    for field, value in settings.items():
        setattr(schedule, field, value)
    _check(schedule, now if "at" in settings else None)
    schedule.version, schedule.planned_until, schedule.error = schedule.version + 1, now, ""
    schedule.save()
    _take_back(schedule)
    audit.record(
        actor,
        "change",
        "schedule",
        schedule.name,
        object_id=schedule.uid,
        before=before,
        after=_shown(schedule),
        reason=reason,
    )
    _plan(schedule)
    return schedule


@transaction.atomic
def delete(actor: audit.Actor, number: int) -> None:
    schedule = _locked(number)
    _take_back(schedule)
    audit.record(actor, "delete", "schedule", schedule.name, object_id=schedule.uid, before=_shown(schedule))
    schedule.delete()


@transaction.atomic
def run_now(actor: audit.Actor, number: int, reason: str = "") -> Enqueued:
    """One event more, at once, also of a disabled schedule; its times stay as they are."""
    schedule = _locked(number)
    audit.record(actor, "run-now", "schedule", schedule.name, object_id=schedule.uid, reason=reason)
    return enqueue(queue_of(schedule.queue_id), [NewEvent(schedule.payload)], schedule.uid)[0]


def spare(queue: Queue) -> list[Schedule]:
    """Takes back what is planned into a queue that is about to be purged; `fire_safely` plans it again, behind the purge.

    A time to come is the schedule's promise, and was inserted early only for the sake of punctuality.
    """
    spared = list(Schedule.objects.select_for_update().filter(queue=queue, enabled=True).order_by("id"))
    now = database_time()
    for schedule in spared:
        # One that is not planned as far as now has missed times, about which the next plan decides.
        schedule.version, schedule.planned_until = schedule.version + 1, min(schedule.planned_until, now)
        schedule.save(update_fields=["version", "planned_until"])
        _take_back(schedule)
    return spared


def _plan(schedule: Schedule) -> None:
    """At once: what is due before the sweep comes by is in time."""
    if schedule.enabled:
        fire(schedule)
        schedule.refresh_from_db()


def _take_back(schedule: Schedule) -> None:
    sql.run((TAKE_BACK, {"queue": schedule.queue_id, "schedule": schedule.uid}))


def _locked(number: int) -> Schedule:
    schedule = Schedule.objects.select_for_update().filter(id=number, queue__deleted_at=None).first()
    if schedule is None:
        raise NotFound("There is no such schedule.")
    return schedule


def _check(schedule: Schedule, now: datetime | None) -> None:
    """`now` is given when `at` is new: only then has it to be in the future."""
    if sum(getattr(schedule, kind) is not None for kind in KINDS) != 1:
        raise InvalidField("Exactly one of cron, everySeconds and at is needed.", field="cron")
    timetable.check_zone(schedule.time_zone)
    if schedule.cron is not None:
        timetable.check_cron(schedule.cron)
    if schedule.at is not None and now is not None and schedule.at <= now:
        raise InvalidField("Must be in the future.", field="at")


def _shown(schedule: Schedule) -> dict[str, Any]:
    shown = {name: getattr(schedule, name) for name in SHOWN}
    return shown | {"at": schedule.at and rfc3339(schedule.at)}
