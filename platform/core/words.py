"""How times, ages and amounts are said to people: in the reader's zone, with UTC on hover; ages in words."""

from datetime import UTC, datetime

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

UNKNOWN = "unknown"
_STEPS = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s"))


def age(seconds: float | None) -> str:
    """`3 d 4 h`, `12 min 5 s`, `0 s`; never below zero, and unknown is never 0."""
    if seconds is None:
        return UNKNOWN
    whole = max(0, int(seconds))
    for size, unit, smaller, smaller_unit in _STEPS:
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size:,} {unit} {rest} {smaller_unit}" if rest else f"{whole // size:,} {unit}"
    return f"{whole} s"


def count(number: int | None) -> str:
    """`12,345`."""
    return UNKNOWN if number is None else f"{number:,}"


def size(number: int | None) -> str:
    """`1.5 MiB`; bytes below 1 KiB are exact."""
    if number is None:
        return UNKNOWN
    amount = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{number} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:,.1f} TiB"


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 event`, `2,000 events`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def rate(per_second: float | None, what: str = "") -> str:
    """`12.5/s`, `90/min` below one a second; of `what`: `12.5 events/s`."""
    if per_second is None:
        return UNKNOWN
    said = f"{per_second:,.1f} {what}/s" if per_second >= 1 else f"{per_second * 60:,.0f} {what}/min"
    return said.replace(" /", "/")


def local(at: datetime) -> datetime:
    """In the reader's zone; what lies too close to year 1 or 9999 for that stays in UTC."""
    try:
        return timezone.localtime(at)
    except OverflowError:
        return at.astimezone(UTC)


def moment(at: datetime | None) -> str | SafeString:
    """The time in the reader's zone, UTC on hover."""
    if at is None:
        return "never"
    return _time(at, local(at).strftime("%d %b %Y %H:%M:%S %Z"), "")


def ago(at: datetime | None) -> str | SafeString:
    """`12 min ago`, `in 3 h`; both clocks on hover."""
    if at is None:
        return "never"
    seconds = (timezone.now() - at).total_seconds()
    words = f"{age(seconds)} ago" if seconds >= 0 else f"in {age(-seconds)}"
    return _time(at, words, local(at).strftime("%d %b %Y %H:%M:%S %Z · "))


def ahead(at: datetime | None) -> str | SafeString:
    """`in 3 h`; what lies behind, or is not set, is `now`."""
    return "now" if at is None or at <= timezone.now() else ago(at)


def _time(at: datetime, shown: str, before: str) -> SafeString:
    utc = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', utc.isoformat(), f"{before}{utc:%Y-%m-%d %H:%M:%S} UTC", shown
    )
