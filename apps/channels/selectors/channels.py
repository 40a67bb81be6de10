"""Channels as operators see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.db.models.functions import Now

from apps.channels.models import Channel, GrantedChannel
from apps.channels.selectors.reading import Event
from core import sql
from core.errors import NotFound

LIVE_NOW = sql.statement(__file__, "live_now")
LATEST_EVENTS = sql.statement(__file__, "latest_events")
ONE_EVENT = sql.statement(__file__, "one_event")
DOCUMENTS = sql.statement(__file__, "documents")

BEYOND = 2**63 - 1


def find(name: str) -> Channel:
    """Raises NotFound, also for one that is deleted."""
    channel = Channel.objects.select_related("kind").filter(name=name, deleted_at=None).first()
    if channel is None:
        raise NotFound("There is no such channel.")
    return channel


def live_connections(names: Sequence[str]) -> dict[str, int]:
    """Over all processes, as of a few seconds ago."""
    return dict(sql.run((LIVE_NOW, {"channels": list(names)}))[0])


@dataclass(frozen=True)
class Listed:
    sequence: int
    id: str
    type: str
    at: datetime
    size: int


def latest_events(channel: int, limit: int, before: int = BEYOND) -> list[Listed]:
    """The newest first."""
    return [Listed(*row) for row in sql.run((LATEST_EVENTS, {"channel": channel, "limit": limit, "before": before}))[0]]


def one_event(channel: int, sequence: int) -> Event | None:
    rows = sql.run((ONE_EVENT, {"channel": channel, "sequence": sequence}))[0]
    return Event(*rows[0]) if rows else None


@dataclass(frozen=True)
class Document:
    key: str
    doc_id: str
    sequence: int
    size: int
    text: str


def documents(channel: int, limit: int, characters: int) -> list[Document]:
    """In the order of their keys and ids, each cut."""
    values = {"channel": channel, "limit": limit, "characters": characters}
    return [Document(*row) for row in sql.run((DOCUMENTS, values))[0]]


def grants_of(channel: str) -> QuerySet[GrantedChannel]:
    """In force or revoked, but not expired; the newest first."""
    found = GrantedChannel.objects.filter(channel=channel, grant__expires_at__gt=Now())
    return found.select_related("grant").order_by("-grant_id")
