"""What followers read of a channel: its snapshot, its events after a cursor, its log lines."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.channels.names import kind_of
from apps.channels.selectors.grants import guarded
from core import sql
from core.errors import CursorExpired, NotFound

SNAPSHOT = sql.statement(__file__, "snapshot")
REPLAY = sql.statement(__file__, "replay")
READ_LOGS = sql.statement(__file__, "read_logs")

PAGE_BYTES = 4 * 1024 * 1024
NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Snapshot:
    sequence: int
    documents: dict[str, str | dict[str, str] | None]
    """JSON text by key, or by key and id; every key of the kind is there."""


@dataclass(frozen=True)
class Event:
    sequence: int
    id: str
    type: str
    time: datetime
    data: str | None
    """JSON text; None when it is over the size that was asked for."""


@dataclass(frozen=True)
class Page:
    last: int
    """Of the channel, not of the page."""
    oldest: int
    events: Sequence[Event]

    def misses(self, after: int) -> bool:
        """Whether events after that are gone, or never were there."""
        return after > self.last or 0 < after < self.oldest - 1

    def cursor(self, after: int) -> int:
        return self.events[-1].sequence if self.events else max(after, self.oldest - 1)


@dataclass(frozen=True)
class Line:
    sequence: int
    time: datetime
    level: str | None
    message: str
    fields: str | None


def snapshot(channel: str, grant: UUID | None = None) -> Snapshot:
    """Raises NotFound for an unknown kind, and what grants raise."""
    rows, _ = guarded((SNAPSHOT, {"name": channel, "kind": kind_of(channel)}), channel, grant)
    if not rows:
        raise NotFound("There is no such channel.")
    forms = json.loads(rows[0][0])
    documents: dict[str, str | dict[str, str] | None] = {key: None if form == "one" else {} for key, form in forms.items()}
    for _, _, key, doc_id, body in rows:
        place = documents.get(key)
        if isinstance(place, dict) and doc_id:
            place[doc_id] = body
        elif forms.get(key) == "one" and not doc_id:
            documents[key] = body
    return Snapshot(rows[0][1], documents)


def replay(channel: str, after: int, limit: int, grant: UUID | None = None) -> Page:
    """Raises CursorExpired when the page would not be what followed, NotFound, and what grants raise."""
    page, _ = read(channel, after, limit, grant)
    if page.misses(after):
        raise CursorExpired(
            "Events after this cursor are gone, or it is not of this channel: load a snapshot.",
            oldestSequence=page.oldest,
            sequence=page.last,
        )
    return page


def read(
    channel: str,
    after: int,
    limit: int,
    grant: UUID | None = None,
    event_bytes: int = NO_LIMIT,
    page_bytes: int = PAGE_BYTES,
) -> tuple[Page, float | None]:
    """A page as it is, whatever it misses; and for how many seconds the grant goes on."""
    bounds = {"after": after, "limit": limit, "event_bytes": event_bytes, "page_bytes": page_bytes}
    rows, seconds = guarded((REPLAY, {"name": channel, "kind": kind_of(channel), **bounds}), channel, grant)
    if not rows:
        raise NotFound("There is no such channel.")
    events = [Event(*row[2:]) for row in rows if row[2] is not None]
    return Page(rows[0][0], rows[0][1], events), seconds


def lines(channel: str, after: int, limit: int, grant: UUID | None = None) -> tuple[list[Line], bool]:
    """Lines after that number, and whether there are more. Raises CursorExpired beyond the last, NotFound."""
    values = {"name": channel, "kind": kind_of(channel), "after": after, "limit": limit, "page_bytes": PAGE_BYTES}
    rows, _ = guarded((READ_LOGS, values), channel, grant)
    if not rows:
        raise NotFound("There is no such channel.")
    last = rows[0][0]
    if after > last:
        raise CursorExpired("This channel's log has not come so far.", sequence=last)
    found = [Line(*row[1:]) for row in rows if row[1] is not None]
    return found, bool(found) and found[-1].sequence < last
