"""Events, snapshots and log lines as clients send and see them. Data is never parsed on its way through."""

import re
from typing import Annotated, Any

import msgspec
import orjson
from django.conf import settings
from msgspec import UNSET, Meta, UnsetType

from apps.channels.names import check_channel
from apps.channels.operations import logs, publish
from apps.channels.selectors.reading import Event, Line, Page, Snapshot
from core.clock import parse_time, rfc3339
from core.errors import InvalidField, TooLarge
from core.openapi import Answer
from core.parse import Body, Query

MAX_SEQUENCE = 2**63 - 1
Short = Annotated[str, Meta(min_length=1, max_length=200)]
Channel = Annotated[str, Meta(min_length=1, max_length=200)]
After = Annotated[int, Meta(ge=0, le=MAX_SEQUENCE, description="The cursor of the last answer; 0: from the first kept.")]
Limit = Annotated[int, Meta(ge=1, le=1000, description="At most so many; a page also ends at 4 MiB.")]
Message = Annotated[str, Meta(max_length=65_536)]
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


class Publish(Body, frozen=True):
    type: Short
    data: msgspec.Raw | UnsetType = UNSET
    id: Short | None = None
    documents: dict[str, msgspec.Raw] = {}


class TargetBody(Body, frozen=True):
    channel: Channel
    documents: dict[str, msgspec.Raw] = {}


class PublishToMany(Body, frozen=True):
    type: Short
    targets: Annotated[list[TargetBody], Meta(min_length=1, max_length=publish.MAX_TARGETS)]
    data: msgspec.Raw | UnsetType = UNSET
    id: Short | None = None


class LineBody(Body, frozen=True):
    message: Message
    level: Annotated[str, Meta(min_length=1, max_length=40)] | None = None
    time: str | None = None
    fields: msgspec.Raw | UnsetType = UNSET


class AppendLogs(Body, frozen=True):
    lines: Annotated[list[LineBody], Meta(min_length=1, max_length=1000)]


class ReplayQuery(Query, frozen=True):
    after: After = 0
    limit: Limit = 100


class LogsQuery(Query, frozen=True):
    after: After = 0
    limit: Limit = 100


class LiveQuery(Query, frozen=True):
    grant: Annotated[str, Meta(description="A grant's token, for what can send no header. No other token.")] | None = None


class Published(Answer):
    id: str
    sequence: int
    cursor: str


class TargetPosition(Answer):
    channel: str
    sequence: int
    cursor: str
    duplicate: bool


class PublishedToMany(Answer):
    id: str
    targets: list[TargetPosition]


class ChannelSnapshot(Answer):
    data: dict[str, Any]
    sequence: int
    cursor: str


class ChannelEvent(Answer):
    id: str
    sequence: int
    type: str
    time: str
    channel: str
    data: Any


class Replay(Answer):
    events: list[ChannelEvent]
    cursor: str
    more: bool


class LogLine(Answer):
    sequence: int
    time: str
    level: str | None
    message: str
    fields: dict[str, Any] | None


class LogPage(Answer):
    lines: list[LogLine]
    cursor: str
    more: bool


class Logged(Answer):
    accepted: int
    cursor: str


class OneChannel(Answer):
    """A channel as it stands; `liveConnections` over all processes, as of some seconds ago."""

    channel: str
    kind: str
    sequence: int
    oldest_sequence: int
    live_connections: int
    created_at: str
    published_at: str | None


def event_fields(body: Publish | PublishToMany) -> dict[str, Any]:
    """What publish takes of an event. Raises InvalidField, TooLarge."""
    for field in ("type", "id"):
        if _CONTROL.search(getattr(body, field) or ""):
            raise InvalidField("Control characters are not allowed here.", field=field)
    return {"type": body.type, "id": body.id, "data": data_text(body.data)}


def data_text(data: msgspec.Raw | UnsetType) -> str:
    """The JSON text as sent; null when there is none."""
    if isinstance(data, UnsetType):
        return "null"
    text, most = bytes(data).strip(), settings.TOWPATH["MAX_EVENT_BYTES"]
    if len(text) > most:
        raise TooLarge(f"An event's data has at most {most} bytes.", field="data", max=most)
    return text.decode()


def targets(body: PublishToMany) -> list[publish.Target]:
    return [
        publish.Target(check_channel(target.channel, f"targets[{i}].channel"), target.documents, f"targets[{i}].documents")
        for i, target in enumerate(body.targets)
    ]


def log_lines(body: AppendLogs) -> list[logs.Line]:
    return [_line(line, f"lines[{i}]") for i, line in enumerate(body.lines)]


def _line(line: LineBody, at: str) -> logs.Line:
    fields = None if isinstance(line.fields, UnsetType) else bytes(line.fields).strip().decode()
    if fields == "null":
        fields = None
    if fields is not None and not fields.startswith("{"):
        raise InvalidField("Must be a JSON object.", field=f"{at}.fields")
    time = None if line.time is None else parse_time(line.time, f"{at}.time")
    return logs.Line(line.message, line.level, time, fields)


def position(found: publish.Position) -> dict[str, Any]:
    return {"sequence": found.sequence, "cursor": str(found.sequence)}


def published_to_many(done: publish.Published) -> dict[str, Any]:
    places = [{"channel": each.channel, **position(each), "duplicate": each.duplicate} for each in done.positions]
    return {"id": done.id, "targets": places}


def snapshot(found: Snapshot) -> dict[str, Any]:
    return {"data": _spliced(found.documents), "sequence": found.sequence, "cursor": str(found.sequence)}


def _spliced(documents: Any) -> Any:
    """JSON texts go into the answer as they are."""
    if isinstance(documents, dict):
        return {name: _spliced(document) for name, document in documents.items()}
    return None if documents is None else orjson.Fragment(documents)


def event(found: Event, channel: str) -> dict[str, Any]:
    return {
        "id": found.id,
        "sequence": found.sequence,
        "type": found.type,
        "time": rfc3339(found.time),
        "channel": channel,
        "data": orjson.Fragment(found.data or "null"),
    }


def replay(page: Page, channel: str, after: int) -> dict[str, Any]:
    cursor = page.cursor(after)
    return {
        "events": [event(each, channel) for each in page.events],
        "cursor": str(cursor),
        "more": cursor < page.last,
    }


def log_page(lines: list[Line], after: int, more: bool) -> dict[str, Any]:
    shown = [
        {
            "sequence": line.sequence,
            "time": rfc3339(line.time),
            "level": line.level,
            "message": line.message,
            "fields": None if line.fields is None else orjson.Fragment(line.fields),
        }
        for line in lines
    ]
    return {"lines": shown, "cursor": str(lines[-1].sequence if lines else after), "more": more}
