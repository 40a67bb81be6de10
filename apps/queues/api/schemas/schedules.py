"""Schedules as clients send and see them."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
import orjson
from msgspec import UNSET, Meta, UnsetType

from apps.queues import models
from apps.queues.api.schemas.events import payload_text
from apps.queues.operations.firing import last_due
from core.clock import parse_time, rfc3339
from core.openapi import Answer
from core.parse import Body, Query

Cron = Annotated[str, Meta(min_length=1, max_length=200)]
Seconds = Annotated[int, Meta(ge=1, le=31_536_000)]
# drf-spectacular wants the type beside the values.
Misfire = Annotated[Literal["fire-once", "skip", "catch-up"], Meta(extra_json_schema={"type": "string"})]
Zone = Annotated[str, Meta(min_length=1, max_length=64)]


class MakeSchedule(Body, frozen=True):
    queue: str
    name: str
    payload: msgspec.Raw
    cron: Cron | None = None
    every_seconds: Seconds | None = None
    at: str | None = None
    time_zone: Zone = "UTC"
    enabled: bool = True
    misfire: Misfire = "fire-once"


class ChangeSchedule(Body, frozen=True):
    payload: msgspec.Raw | UnsetType = UNSET
    cron: Cron | UnsetType | None = UNSET
    every_seconds: Seconds | UnsetType | None = UNSET
    at: str | UnsetType | None = UNSET
    time_zone: Zone | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    misfire: Misfire | UnsetType = UNSET


class NextQuery(Query, frozen=True):
    count: Annotated[int, Meta(ge=1, le=100)] = 5


class Schedule(Answer):
    id: str
    name: str
    queue: str
    payload: dict[str, Any]
    cron: str | None
    every_seconds: int | None
    at: str | None
    time_zone: str
    enabled: bool
    misfire: Misfire
    last_due_at: str | None
    missed: int
    error: str
    created_at: str
    updated_at: str


class NextTimes(Answer):
    items: list[str]


def settings_of(body: MakeSchedule | ChangeSchedule) -> dict[str, Any]:
    """The fields that were given, as the model has them. Raises InvalidField or TooLarge."""
    names = ("cron", "every_seconds", "time_zone", "enabled", "misfire")
    given = {name: getattr(body, name) for name in names if getattr(body, name) is not UNSET}
    if not isinstance(body.payload, UnsetType):
        given["payload"] = payload_text(body.payload, "payload")
    if body.at is not UNSET:
        given["at"] = _time(body.at)
    return given


def _time(text: str | UnsetType | None) -> datetime | None:
    return parse_time(text, "at") if isinstance(text, str) else None


def shown(schedule: models.Schedule, now: datetime) -> dict[str, Any]:
    """As it stands `now`, by the database's clock."""
    last = last_due(schedule, now)
    return {
        "id": schedule.uid,
        "name": schedule.name,
        "queue": schedule.queue.name,
        "payload": orjson.Fragment(schedule.payload),
        "cron": schedule.cron,
        "everySeconds": schedule.every_seconds,
        "at": schedule.at and rfc3339(schedule.at),
        "timeZone": schedule.time_zone,
        "enabled": schedule.enabled,
        "misfire": schedule.misfire,
        "lastDueAt": last and rfc3339(last),
        "missed": schedule.missed,
        "error": schedule.error,
        "createdAt": rfc3339(schedule.created_at),
        "updatedAt": rfc3339(schedule.updated_at),
    }
