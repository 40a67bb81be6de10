"""Bulk operations as clients ask for and see them."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta

from apps.console.models import Bulk, BulkItem, Objects
from apps.console.selectors.matching import Wanted
from core.clock import rfc3339
from core.notes import Note, note
from core.openapi import Answer
from core.parse import Body

Text = Annotated[str, Meta(min_length=1, max_length=200)]
Fingerprint = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
Rate = Annotated[int, Meta(ge=1, le=1_000)]


class Matching(Body, frozen=True):
    """All that is given has to match; `name` is that of the destination or queue."""

    name: Text | None = None
    topic: Text | None = None
    type: Literal["DURABLE_CONSUMER", "WEBHOOK", "QUEUE", "CHANNEL"] | None = None
    state: Literal["active", "paused", "held", "disabled"] | None = None
    fingerprint: Fingerprint | None = None
    search: Text | None = None
    """Words of which each stands in the name or in the topic's."""


class BeginBulk(Body, frozen=True):
    verb: Literal["redrive", "discard", "pause", "resume"]
    objects: Literal["dead-letters", "queue-dead-letters", "destinations", "queues"]
    filter: Matching = Matching()
    rate: Rate | None = None
    dry_run: bool = False
    reason: Note = UNSET

    def wanted(self) -> Wanted:
        given = self.filter
        return Wanted(
            self.verb,
            Objects(self.objects),
            name=given.name or "",
            topic=given.topic or "",
            type=given.type or "",
            state=given.state or "",
            fingerprint=given.fingerprint or "",
            search=given.search or "",
        )

    def why(self) -> str:
        return note(self.reason, "reason") or ""


class BulkReason(Body, frozen=True):
    reason: Note = UNSET


class BulkAnswer(Answer):
    id: str
    verb: str
    objects: str
    filter: dict[str, str]
    reason: str
    rate: int | None
    state: str
    total: int
    processed: int
    skipped: int
    failed: int
    started_by: str
    created_at: str
    updated_at: str
    ended_at: str | None


class BulkPreview(Answer):
    matching: int
    more: bool
    sample: list[dict[str, Any]]


class BulkItemAnswer(Answer):
    n: int
    home: str
    target: str | None
    state: str
    note: str


EXAMPLE: dict[str, Any] = {
    "id": "019ad2f3-9d1c-7f0e-8a2b-6c4d5e7f8a90",
    "verb": "redrive",
    "objects": "dead-letters",
    "filter": {"name": "billing", "fingerprint": "5b0f2f2f0c1d9a77"},
    "reason": "the billing system is back",
    "rate": 50,
    "state": "running",
    "total": 1200,
    "processed": 250,
    "skipped": 1,
    "failed": 0,
    "startedBy": "ana",
    "createdAt": "2026-11-29T12:00:00.000000Z",
    "updatedAt": "2026-11-29T12:00:00.000000Z",
    "endedAt": None,
}


def bulk_json(bulk: Bulk) -> dict[str, Any]:
    return {
        "id": str(bulk.pk),
        "verb": bulk.verb,
        "objects": bulk.objects_kind,
        "filter": bulk.filter,
        "reason": bulk.reason,
        "rate": bulk.rate,
        "state": bulk.state,
        "total": bulk.total,
        "processed": bulk.processed,
        "skipped": bulk.skipped,
        "failed": bulk.failed,
        "startedBy": bulk.actor_name,
        "createdAt": rfc3339(bulk.created_at),
        "updatedAt": rfc3339(bulk.ended_at or bulk.created_at),
        "endedAt": bulk.ended_at and rfc3339(bulk.ended_at),
    }


def item_json(item: BulkItem) -> dict[str, Any]:
    return {
        "n": item.n,
        "home": str(item.home),
        "target": None if item.target is None else str(item.target),
        "state": item.state,
        "note": item.note,
    }
