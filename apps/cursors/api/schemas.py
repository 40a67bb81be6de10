"""What the endpoints of consumer groups take and answer."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import orjson
from msgspec import UNSET, Meta, UnsetType

from apps.cursors.models import Group
from apps.cursors.operations.assign import Assignment
from apps.cursors.selectors import Place as PlaceOfReader
from apps.cursors.selectors.groups import Place
from core import parse
from core.clock import parse_time, rfc3339
from core.errors import DomainError, InvalidField
from core.names import check_worker
from core.notes import Note
from core.openapi import Answer
from core.sequence import parse_sequence

Limit = Annotated[int, Meta(ge=1, le=1_000, description="Records a page.")]
GroupName = Annotated[str, Meta(description="The consumer group.")]
Member = Annotated[str, Meta(min_length=1, max_length=200)]
Offset = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class At(parse.Body, frozen=True):
    """`{"time": …}` or `{"sequence": …}`: where the first event to be delivered stands."""

    time: str | UnsetType = UNSET
    sequence: str | Annotated[list[str], Meta(min_length=1, max_length=256)] | UnsetType = UNSET

    def place(self, field: str) -> PlaceOfReader:
        match self.time, self.sequence:
            case str(time), UnsetType():
                return parse_time(time, f"{field}.time")
            case UnsetType(), str(sequence):
                return [parse_sequence(sequence, f"{field}.sequence")]
            case UnsetType(), list(sequences):
                return [parse_sequence(text, f"{field}.sequence[{index}]") for index, text in enumerate(sequences)]
        raise InvalidField("Give either time or sequence.", field=field)


class Seek(parse.Body, frozen=True):
    to: Literal["head", "oldest"] | At
    dry_run: bool = False
    reason: Note = UNSET

    def place(self) -> PlaceOfReader:
        return self.to.place("to") if isinstance(self.to, At) else self.to


class Sought(Answer):
    """before: where the partitions that move stood; to seek there undoes it."""

    before: list[str]
    after: list[str]
    redelivered: int
    leases_fenced: int


class ConsumeQuery(parse.Query, frozen=True):
    group: GroupName = "default"
    limit: Limit = 100


class Commit(parse.Body, frozen=True):
    group: GroupName
    offset: Offset
    fencing_token: Offset | None = None


class Assign(parse.Body, frozen=True):
    member_id: Member
    ttl_seconds: Annotated[int, Meta(ge=5, le=3_600)]

    def member(self) -> str:
        """Raises InvalidField for characters that cannot be seen in a list of members."""
        return check_worker(self.member_id, "memberId")


class Committed(Answer):
    group: str
    partition: int
    offset: int


class AssignedPartition(Answer):
    partition: int
    fencing_token: int


class Assigned(Answer):
    group: str
    member_id: str
    expires_at: str
    partitions: list[AssignedPartition]


class GroupPlace(Answer):
    partition: int
    position: int
    next_offset: int
    lag: int
    member_id: str | None
    fencing_token: int | None
    held_until: str | None


class GroupAnswer(Answer):
    name: str
    topic: str
    created_at: str
    lag: int
    partitions: list[GroupPlace]


class PolledPartition(Answer):
    """A page; or, in its place, `error` of a partition that cannot be read, or `deferred` when it had no room."""

    partition: int
    records: list[dict[str, Any]] = []
    next_offset: int = 0
    lag: int = 0
    error: dict[str, Any] = msgspec.field(default_factory=dict)
    deferred: bool = False


def polled(pages: Mapping[int, bytes | DomainError | None]) -> bytes:
    return b"[" + b",".join(_polled(partition, page) for partition, page in pages.items()) + b"]"


def _polled(partition: int, page: bytes | DomainError | None) -> bytes:
    if isinstance(page, bytes):
        return page
    if page is None:
        return orjson.dumps({"partition": partition, "deferred": True})
    error = {"code": page.code, "message": page.message, "details": page.details}
    return orjson.dumps({"partition": partition, "error": error})


def assigned(group: str, member: str, assignment: Assignment) -> Assigned:
    held = [AssignedPartition(partition=number, fencing_token=token) for number, token in assignment.tokens.items()]
    return Assigned(group=group, member_id=member, expires_at=rfc3339(assignment.expires_at), partitions=held)


def group(found: Group, topic: str, places: Sequence[Place]) -> GroupAnswer:
    return GroupAnswer(
        name=found.name,
        topic=topic,
        created_at=rfc3339(found.created_at),
        lag=sum(place.lag for place in places),
        partitions=[_place(place) for place in places],
    )


def _place(place: Place) -> GroupPlace:
    return GroupPlace(
        partition=place.partition,
        position=place.position,
        next_offset=place.head,
        lag=place.lag,
        member_id=place.holder,
        fencing_token=place.fencing_token,
        held_until=None if place.held_until is None else rfc3339(place.held_until),
    )
