"""Inserting due events ahead of their time. Two schedulers, an outage or an edit between change nothing: the schedule's
row is compared and set in the statement that inserts.
"""

import logging
from datetime import datetime, timedelta
from zoneinfo import ZoneInfoNotFoundError

from django.db import DatabaseError

from apps.queues.models import Schedule
from apps.queues.timetable import Plan, Rule, due_times, last_time, plan
from core import notices, sql
from core.ids import uuid7
from core.sql import database_time

FIRE = sql.statement(__file__, "fire")
AHEAD = timedelta(seconds=90)
FAULTS = (DatabaseError, ZoneInfoNotFoundError, ValueError, OverflowError)

logger = logging.getLogger(__name__)


def fire_schedules() -> int:
    """Plans the next 90 s of every schedule; returns the number of events inserted."""
    found = Schedule.objects.filter(enabled=True, queue__deleted_at=None)
    return sum(fire_safely(schedule) for schedule in found.iterator(chunk_size=500))


def fire_safely(schedule: Schedule) -> int:
    """One schedule's error, such as a zone that no longer exists, is kept with it and never stops the others."""
    try:
        return fire(schedule)
    except FAULTS as error:
        logger.exception("schedules.not_fired", extra={"schedule": str(schedule.uid)})
        Schedule.objects.filter(id=schedule.id).update(error=f"{type(error).__name__}: {error}"[:2000])
        return 0


def fire(schedule: Schedule) -> int:
    now = database_time()
    until = now + AHEAD
    planned = plan(rule_of(schedule), schedule.misfire, schedule.planned_until, now, until)
    (rows,) = sql.run((FIRE, _values(schedule, planned, now, until)))
    if rows:
        notices.publish(f"queue:{schedule.queue_id}", len(rows))
    return len(rows)


def _values(schedule: Schedule, planned: Plan, now: datetime, until: datetime) -> dict[str, object]:
    return {
        "schedule": schedule.id,
        "version": schedule.version,
        "after": schedule.planned_until,
        "until": until,
        "last": _last_due(schedule, planned, now),
        "missed": planned.dropped,
        "ids": [uuid7() for _ in planned.dues],
        "dues": planned.dues,
    }


def _last_due(schedule: Schedule, planned: Plan, now: datetime) -> datetime | None:
    """The latest time that has come; what is planned ahead, now or earlier, has not."""
    since = max(now - AHEAD, schedule.updated_at)
    return max((due for due in (*planned.dues, *due_times(rule_of(schedule), since, now)) if due <= now), default=None)


def last_due(schedule: Schedule, now: datetime) -> datetime | None:
    """The same at any moment: what came since it was last planned is not written down yet."""
    if not schedule.enabled:
        return schedule.last_due_at
    since = max(schedule.planned_until - AHEAD, schedule.updated_at)
    try:
        return last_time(rule_of(schedule), since, now) or schedule.last_due_at
    except FAULTS:
        return schedule.last_due_at


def rule_of(schedule: Schedule) -> Rule:
    return Rule(schedule.cron, schedule.every_seconds, schedule.at, schedule.time_zone, schedule.created_at)
