"""When a schedule is due. Pure: rules and moments in, moments in UTC out; the caller brings the database's clock.

Clock changes: a fixed time that is skipped fires at the first instant after the gap, one that comes twice fires at the
first; a cron with `*` or a step in minutes or hours keeps real time.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from core.errors import InvalidField

MISSED_AFTER = timedelta(seconds=60)
MAX_CATCH_UP = 100
# Windows to look for the last missed times in: a year of outage is not walked minute by minute.
_LOOK_BACK = tuple(timedelta(hours=hours) for hours in (1, 24, 24 * 30, 24 * 366, 24 * 366 * 10))
_LONGEST_FOLD = timedelta(hours=3)
_FIELD = re.compile(r"[0-9A-Z*/,-]+", re.ASCII)
_NAMES = re.compile(r"JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT")


@dataclass(frozen=True)
class Rule:
    """Exactly one of cron, every_seconds and at. `anchor` is where the grid of every_seconds begins."""

    cron: str | None
    every_seconds: int | None
    at: datetime | None
    time_zone: str
    anchor: datetime


@dataclass(frozen=True)
class Plan:
    """Times to insert, and how many missed ones (at least) fire not."""

    dues: list[datetime]
    dropped: int


def due_times(rule: Rule, after: datetime, until: datetime) -> Iterator[datetime]:
    """Every due time t with after < t <= until, in order."""
    for moment in _from(rule, after):
        if moment > until:
            return
        yield moment


def next_times(rule: Rule, after: datetime, count: int) -> list[datetime]:
    return list(islice(_from(rule, after), count))


def plan(rule: Rule, misfire: str, after: datetime, now: datetime, until: datetime) -> Plan:
    """Decides every time in (after, until]: what is over 60 s late is missed and falls under the misfire policy."""
    late = max(after, now - MISSED_AFTER)
    missed = _last(rule, after, late) if late > after else []
    keep = {"fire-once": 1, "catch-up": MAX_CATCH_UP}.get(misfire, 0)
    fired = missed[len(missed) - keep :] if len(missed) > keep else missed
    fired = fired if keep else []
    return Plan([*fired, *due_times(rule, late, until)], len(missed) - len(fired))


def last_time(rule: Rule, after: datetime, until: datetime) -> datetime | None:
    """The latest in (after, until]."""
    return next(reversed(_last(rule, after, until)), None) if after < until else None


def _last(rule: Rule, after: datetime, until: datetime) -> list[datetime]:
    """The last times in (after, until], at least MAX_CATCH_UP of them if there are as many."""
    found: list[datetime] = []
    for window in _LOOK_BACK:
        begin = max(after, until - window)
        found = list(due_times(rule, begin, until))
        if len(found) > MAX_CATCH_UP or begin == after:
            break
    return found


def _from(rule: Rule, after: datetime) -> Iterator[datetime]:
    if rule.at is not None:
        return iter([rule.at] if rule.at > after else [])
    if rule.every_seconds is not None:
        return _grid(rule.anchor, timedelta(seconds=rule.every_seconds), after)
    return _cron(rule.cron or "", ZoneInfo(rule.time_zone), after)


def _grid(anchor: datetime, step: timedelta, after: datetime) -> Iterator[datetime]:
    number = max(1, (after - anchor) // step + 1)
    while True:
        yield anchor + number * step
        number += 1


def _cron(expression: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """cronsim walks the clock on the wall; what its changes mean is decided here, also for those of half an hour."""
    walls = CronSim(expression, _wall_before(after, zone))
    minute, hour, *_ = expression.split()
    found = _each_run(walls, zone) if re.search("[*/]", minute + hour) else _once(walls, zone)
    last = after
    for moment in found:
        if moment > last:
            last = moment
            yield moment


def _wall_before(after: datetime, zone: ZoneInfo) -> datetime:
    """Where to begin: within a repeated hour its second run still shows earlier times than the wall does now."""
    around = [(after + step).astimezone(zone) for step in (-_LONGEST_FOLD, timedelta(), _LONGEST_FOLD)]
    changes = len({moment.utcoffset() for moment in around}) > 1
    return (around[1] - _LONGEST_FOLD if changes else around[1]).replace(tzinfo=None)


def _each_run(walls: Iterable[datetime], zone: ZoneInfo) -> Iterator[datetime]:
    """Real time: every instant at which the wall shows the time, none for one it never shows."""
    second_run: list[datetime] = []
    for wall in walls:
        first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        if first >= second:
            # A time that comes once, or never (in a gap the later offset gives the earlier instant).
            yield from second_run
            second_run = []
            if not _is_skipped(wall, zone):
                yield first
        else:
            yield first
            second_run.append(second)


def _once(walls: Iterable[datetime], zone: ZoneInfo) -> Iterator[datetime]:
    for wall in walls:
        while _is_skipped(wall, zone):
            wall += timedelta(minutes=1)
        yield wall.replace(tzinfo=zone).astimezone(UTC)


def _is_skipped(wall: datetime, zone: ZoneInfo) -> bool:
    return wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) != wall


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    """Without what is found beside the zones, and means another one on another machine, or none."""
    return frozenset(available_timezones() - {"localtime", "posixrules", "Factory"})


def check_zone(name: str) -> str:
    """Raises InvalidField for what is no zone of the IANA database."""
    if name not in _zones():
        raise InvalidField("There is no such time zone; use a name such as Europe/Berlin.", field="timeZone")
    return name


def check_cron(expression: str) -> str:
    """Five fields, without seconds, L, W and #. Raises InvalidField."""
    fields = expression.upper().split()
    if len(fields) != 5 or not all(map(_is_plain, fields)):
        raise InvalidField("A cron has five fields of numbers, names, * , - and /.", field="cron")
    try:
        CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        raise InvalidField(f"This is no cron: {error}.", field="cron") from None
    return expression


def _is_plain(field: str) -> bool:
    return bool(_FIELD.fullmatch(field)) and not re.search("[A-Z]", _NAMES.sub("", field))
