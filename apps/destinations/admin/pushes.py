"""Where a destination pushes to, in words instead of the names and values of the API."""

from collections.abc import Mapping
from typing import Any

from core import words

NAMES = {
    "url": "endpoint",
    "batch": "a request carries",
    "timeoutSeconds": "time limit",
    "concurrency": "at once",
    "rate": "rate",
    "queue": "queue",
    "groupKey": "group key",
    "channel": "channel",
}


def facts(target: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(NAMES.get(name, name), _said(name, value)) for name, value in target.items()]


def _said(name: str, value: Any) -> str:
    if name == "batch":
        return "up to 100 events" if value else "one event"
    if name == "rate":
        return "no limit" if value is None else f"{words.counted(value, 'request')} a second"
    if name == "timeoutSeconds":
        return f"{value} s"
    if name == "concurrency":
        return words.counted(value, "request")
    return "none" if value is None else str(value)
