"""Kinds of channels as clients send and see them."""

import re
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from apps.channels import models
from core.clock import rfc3339
from core.errors import InvalidField
from core.openapi import Answer
from core.parse import Body, printable

Form = Annotated[Literal["one", "many"], Meta(extra_json_schema={"type": "string"})]
Documents = Annotated[dict[str, Form], Meta(max_length=50)]
Records = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Seconds = Annotated[int, Meta(ge=1, le=315_360_000)]
Bytes = Annotated[int, Meta(ge=1, le=1_000_000_000_000)]
LogSeconds = Annotated[int, Meta(ge=1, le=7_776_000)]  # the partitions of the log are kept for as long

DAY = 86_400
DEFAULTS = {"events_records": 10_000, "events_seconds": 7 * DAY, "events_bytes": None, "logs_seconds": 30 * DAY}
_KEY = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)


class EventRetention(Body, frozen=True):
    records: Records | UnsetType | None = UNSET
    seconds: Seconds | UnsetType | None = UNSET
    bytes: Bytes | UnsetType | None = UNSET


class LogRetention(Body, frozen=True):
    seconds: LogSeconds | UnsetType = UNSET


class ChannelRetention(Body, frozen=True):
    events: EventRetention = EventRetention()
    logs: LogRetention = LogRetention()


class MakeKind(Body, frozen=True):
    name: str
    documents: Documents
    retention: ChannelRetention = ChannelRetention()


class ChangeKind(Body, frozen=True):
    documents: Documents | UnsetType = UNSET
    retention: ChannelRetention = ChannelRetention()


class KeptEvents(Answer):
    records: int | None
    seconds: int | None
    bytes: int | None


class KeptLogs(Answer):
    seconds: int


class Kept(Answer):
    events: KeptEvents
    logs: KeptLogs


class ChannelKind(Answer):
    id: str
    name: str
    documents: dict[str, Form]
    retention: Kept
    created_at: str
    updated_at: str


def settings_of(body: MakeKind | ChangeKind) -> dict[str, Any]:
    """What was given, as the model has it. Raises InvalidField."""
    events, logs = body.retention.events, body.retention.logs
    given = {
        "documents": body.documents,
        "events_records": events.records,
        "events_seconds": events.seconds,
        "events_bytes": events.bytes,
        "logs_seconds": logs.seconds,
    }
    if not isinstance(body.documents, UnsetType):
        _check_keys(body.documents)
    return {name: value for name, value in given.items() if value is not UNSET}


def _check_keys(documents: dict[str, Any]) -> None:
    for key in documents:
        if not _KEY.fullmatch(key):
            raise InvalidField("1 to 100 of the characters A-Z a-z 0-9 . _ -", field=printable(f"documents.{key}"))


def shown(kind: models.ChannelKind) -> dict[str, Any]:
    return {
        "id": kind.name,
        "name": kind.name,
        "documents": kind.documents,
        "retention": {
            "events": {"records": kind.events_records, "seconds": kind.events_seconds, "bytes": kind.events_bytes},
            "logs": {"seconds": kind.logs_seconds},
        },
        "createdAt": rfc3339(kind.created_at),
        "updatedAt": rfc3339(kind.updated_at),
    }
