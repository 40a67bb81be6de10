"""Publishing: one event to some channels, all or none, with the documents it changes; each channel's next sequence."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.channels.documents import Change, changes
from apps.channels.names import check_type, kind_of, notice_key
from core import notices, sql
from core.arrays import integers, texts
from core.errors import InvalidField, NotFound
from core.ids import uuid7

TARGETS = sql.statement(__file__, "targets")
MAKE_CHANNEL = sql.statement(__file__, "make_channel")
LOCK_CHANNEL = sql.statement(__file__, "lock_channel")
PUBLISH = sql.statement(__file__, "publish")
LOCK_CHANNELS = sql.statement(__file__, "lock_channels")
PUBLISH_EACH = sql.statement(__file__, "publish_each")

MAX_TARGETS = 20


@dataclass(frozen=True)
class Target:
    channel: str
    documents: Mapping[str, msgspec.Raw] = field(default_factory=dict)
    at: str = "documents"
    """Where the documents stand in what was sent, for errors."""


@dataclass(frozen=True)
class Position:
    channel: str
    sequence: int
    duplicate: bool


@dataclass(frozen=True)
class Published:
    id: str
    positions: list[Position]
    """In the order of the targets."""


def publish(targets: Sequence[Target], type: str, data: str = "null", id: str | None = None) -> Published:  # noqa: A002
    """`data` is JSON text, kept as it is. Raises NotFound for an unknown kind, InvalidField, TooLarge.

    A channel that knows `id` keeps its first event, answers its position, and takes no documents.
    """
    names = [target.channel for target in targets]
    if len(set(names)) < len(names):
        raise InvalidField("A channel is named twice.", field="targets")
    check_type(type)
    places = _places(names)
    changed = {target.channel: changes(places[target.channel].forms, target.documents, target.at) for target in targets}
    event = {"id": id or str(uuid7()), "type": type, "data": data}
    # One order for everybody: whoever holds a channel waits only for later names, so nobody waits in a circle.
    ordered = sorted(places.values(), key=lambda place: place.name)
    locks = [step for place in ordered for step in place.steps()]
    rows = sql.run(*locks, *((PUBLISH, {**event, "name": place.name, **_columns(changed[place.name])}) for place in ordered))
    done = {place.name: Position(place.name, *found[0]) for place, found in zip(ordered, rows[len(locks) :], strict=True)}
    _tell(done.values())
    return Published(event["id"], [done[name] for name in names])


@dataclass(frozen=True)
class Place:
    name: str
    kind: int
    forms: Mapping[str, Any]
    exists: bool

    def steps(self) -> list[tuple[sql.Statement, dict[str, Any]]]:
        """Each a statement of its own: what was waited for is seen by the next."""
        lock = (LOCK_CHANNEL, {"name": self.name})
        return [lock] if self.exists else [(MAKE_CHANNEL, {"name": self.name, "kind": self.kind}), lock]


def _places(names: Sequence[str]) -> dict[str, Place]:
    (rows,) = sql.run((TARGETS, {"names": list(names), "kinds": [kind_of(name) for name in names]}))
    found = {name: Place(name, kind, json.loads(forms), exists) for name, kind, forms, exists in rows if kind is not None}
    for name in names:
        if name not in found:
            raise NotFound(f"There is no kind of channel {kind_of(name)!r}.")
    return found


def make_channel(name: str) -> None:
    """Unless it exists. Raises NotFound for an unknown kind."""
    place = _places([name])[name]
    if not place.exists:
        sql.run((MAKE_CHANNEL, {"name": name, "kind": place.kind}))


def _columns(changed: Sequence[Change]) -> dict[str, list[Any]]:
    return {
        "keys": [change.key for change in changed],
        "doc_ids": [change.doc_id for change in changed],
        "bodies": [change.body for change in changed],
    }


def _tell(done: Iterable[Position]) -> None:
    counts = Counter(position.channel for position in done if not position.duplicate)
    for channel, count in counts.items():
        notices.publish(notice_key(channel), count)


@dataclass(frozen=True)
class Item:
    """One event for one channel, without documents; `data` is JSON text."""

    channel: str
    id: str
    type: str
    data: str


def publish_each(items: Sequence[Item]) -> list[Position]:
    """Each to its channel, in the order given, all or none. Raises NotFound for an unknown kind.

    However many events and channels: the same three statements.
    """
    if not items:
        return []
    places = _places(sorted({item.channel for item in items}))
    locks = {"names": texts(places), "kinds": integers([place.kind for place in places.values()])}
    events = {
        "channels": texts(item.channel for item in items),
        "ids": texts(item.id for item in items),
        "types": texts(item.type for item in items),
        "datas": texts(item.data for item in items),
    }
    _, rows = sql.run((LOCK_CHANNELS, locks), (PUBLISH_EACH, events))
    positions = [Position(item.channel, *row) for item, row in zip(items, rows, strict=True)]
    _tell(positions)
    return positions
