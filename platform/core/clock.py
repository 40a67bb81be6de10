"""Times on the wire: RFC 3339 in UTC with six digits. Deciding times are the database's, never made here."""

import re
from datetime import UTC, datetime, timedelta

from core.errors import InvalidField

_RFC3339 = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def rfc3339(moment: datetime) -> str:
    """`2026-11-29T12:00:00.000000Z`."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def parse_time(text: str, field: str) -> datetime:
    """A moment in UTC from RFC 3339 with an offset; digits beyond the microsecond are cut.

    Raises InvalidField naming `field` for anything else, also for what leaves the years 1 to 9999 in UTC, and for a leap
    second (:60), which neither Python nor PostgreSQL can keep apart from the next one.
    """
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise InvalidField("Must be an RFC 3339 time with an offset, as 2026-11-29T12:00:00Z.", field=field)
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    micros = int((match[7] or "0").ljust(6, "0")[:6])
    try:
        local = datetime(year, month, day, hour, minute, second, micros, tzinfo=UTC)
        return local - _offset(match[8])
    except (ValueError, OverflowError):
        raise InvalidField("There is no such time.", field=field) from None


def _offset(text: str) -> timedelta:
    if text in "Zz":
        return timedelta()
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 23 or minutes > 59:
        raise ValueError(text)
    size = timedelta(hours=hours, minutes=minutes)
    return size if text[0] == "+" else -size
