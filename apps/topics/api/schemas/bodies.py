"""What this app's endpoints take and answer."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from core import parse
from core.openapi import Answer

DedupSeconds = Annotated[int, Meta(ge=60, le=2_592_000, description="How long a repeated key answers the first position.")]
Limit = Annotated[int, Meta(ge=1, le=1_000)]


Seconds = Annotated[int, Meta(ge=0, le=315_360_000)]
Records = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Bytes = Annotated[int, Meta(ge=1, le=2**50)]
Rate = Annotated[int, Meta(ge=1, le=10_000_000)]


class SetHot(parse.Body, frozen=True):
    """Of each partition: what is past any of the three moves to cold storage."""

    seconds: Annotated[int, Meta(ge=1, le=315_360_000)] | UnsetType = UNSET
    records: Records | UnsetType = UNSET
    bytes: Bytes | UnsetType = UNSET


class SetCold(parse.Body, frozen=True):
    seconds: Seconds | UnsetType | None = UNSET
    """How long an event can be read again; null: for good."""


class SetRetention(parse.Body, frozen=True):
    """What is not named stays. onLag: what happens to events that a reader has not read when their time is over."""

    hot: SetHot | UnsetType = UNSET
    cold: SetCold | UnsetType = UNSET
    on_lag: Literal["protect", "expire"] | UnsetType = UNSET
    protect_seconds: Seconds | UnsetType = UNSET
    protect_bytes: Annotated[int, Meta(ge=0, le=2**50)] | UnsetType = UNSET

    def fields(self) -> dict[str, Any]:
        """The model's, with what was not sent."""
        hot = (
            {} if self.hot is UNSET else {f"hot_{name}": getattr(self.hot, name) for name in ("seconds", "records", "bytes")}
        )
        cold = {} if self.cold is UNSET else {"cold_seconds": self.cold.seconds}
        protect = {"protect_seconds": self.protect_seconds, "protect_bytes": self.protect_bytes}
        return {**hot, **cold, "on_lag": self.on_lag, **protect}


class Settings(parse.Body, frozen=True):
    dedup_window_seconds: DedupSeconds | UnsetType = UNSET
    retention: SetRetention | UnsetType = UNSET
    max_hot_records: Records | UnsetType | None = UNSET
    """Of each partition; null: no quota."""
    max_hot_bytes: Bytes | UnsetType | None = UNSET
    max_records_per_second: Rate | UnsetType | None = UNSET
    max_backlog: Annotated[int, Meta(ge=0, le=1_000_000)] | UnsetType | None = UNSET

    def fields(self) -> dict[str, Any]:
        """The model's fields that were sent."""
        quotas = {name: getattr(self, name) for name in QUOTAS}
        kept = {} if self.retention is UNSET else self.retention.fields()
        found = {"dedup_seconds": self.dedup_window_seconds, **kept, **quotas}
        return {name: value for name, value in found.items() if value is not UNSET}


QUOTAS = ("max_hot_records", "max_hot_bytes", "max_records_per_second", "max_backlog")


class MakeTopic(Settings, frozen=True, kw_only=True):
    name: str
    partitions: Annotated[int, Meta(ge=1, le=256, description="Fixed for good.")] = 8


class ChangeTopic(Settings, frozen=True):
    """What can be changed: not the name, the partitions or the hash."""


class TopicQuery(parse.Query, frozen=True):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    cursor: str | UnsetType = UNSET
    name: Annotated[str, Meta(min_length=1)] | UnsetType = UNSET
    """Only the topic of this name."""


class BrowseQuery(parse.Query, frozen=True):
    from_: Annotated[int, Meta(ge=0)] | UnsetType = msgspec.field(name="from", default=UNSET)
    limit: Limit = 100


class HotWindow(Answer):
    seconds: int
    records: int
    bytes: int


class ColdWindow(Answer):
    seconds: int | None


class Retention(Answer):
    hot: HotWindow
    cold: ColdWindow
    on_lag: str
    protect_seconds: int
    protect_bytes: int


class Topic(Answer):
    id: str
    name: str
    partitions: int
    hash: str
    dedup_window_seconds: int
    retention: Retention
    max_hot_records: int | None
    max_hot_bytes: int | None
    max_records_per_second: int | None
    max_backlog: int | None
    created_at: str
    updated_at: str


class Load(Answer):
    hot_records: int
    hot_bytes: int
    records_per_second: float
    backlog: int


class PartitionLoad(Load):
    partition: int


class GroupProblem(Answer):
    code: str
    message: str
    details: dict[str, Any]


class Group(Answer):
    """What became of the records of one partition."""

    partition: int
    success: bool | None
    """null: that cannot be known; retry with the same keys."""
    load: Load | None
    """null: it could not be had."""
    first_offset: int = 0
    next_offset: int = 0
    offsets: list[int] = []
    accepted: int = 0
    duplicates: int = 0
    error: GroupProblem | None = None


class EventOutcome(Answer):
    id: str
    sequence: str = ""
    duplicate: bool = False
    error: GroupProblem | None = None


class EventsAccepted(Answer):
    accepted: int
    duplicates: int
    events: list[EventOutcome]


class RecordBody(Answer):
    topic: str
    partition_key: str
    payload: str


class StoredRecord(Answer):
    offset: int
    appended_at: str
    body: RecordBody
    key: str = ""


class RecordPage(Answer):
    partition: int
    records: list[StoredRecord]
    next_offset: int
    lag: int


class PartitionBounds(Answer):
    partition: int
    oldest_offset: int
    hot_offset: int
    next_offset: int
    replayable_since: str | None


CLOUD_EVENT: dict[str, Any] = {
    "type": "object",
    "description": "A CloudEvent 1.0. Further attributes are extensions: lower-case letters and digits.",
    "required": ["specversion", "id", "source", "type"],
    "properties": {
        "specversion": {"const": "1.0"},
        "id": {"type": "string", "minLength": 1},
        "source": {"type": "string", "minLength": 1},
        "type": {"type": "string", "minLength": 1},
        "subject": {"type": "string", "minLength": 1},
        "time": {"type": "string", "format": "date-time"},
        "datacontenttype": {"type": "string", "minLength": 1},
        "dataschema": {"type": "string", "minLength": 1},
        "partitionkey": {"type": "string", "minLength": 1, "maxLength": 2048},
        "data": {},
        "data_base64": {"type": "string", "contentEncoding": "base64"},
    },
    "additionalProperties": {"type": ["string", "boolean", "integer", "null"]},
}
CLOUD_EVENTS: dict[str, Any] = {"type": "array", "minItems": 1, "maxItems": 1000, "items": CLOUD_EVENT}
RECORDS: dict[str, Any] = {
    "type": "array",
    "minItems": 1,
    "maxItems": 1000,
    "items": {
        "type": "object",
        "required": ["partitionKey", "payload"],
        "additionalProperties": False,
        "properties": {
            "partitionKey": {"type": "string", "maxLength": 2048},
            "payload": {"type": "string"},
            "key": {"type": ["string", "null"], "maxLength": 2048},
        },
    },
}
