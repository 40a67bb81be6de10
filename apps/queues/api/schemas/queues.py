"""Queues as clients send and see them."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from apps.queues import models
from apps.queues.selectors import Standing, standings
from core.clock import rfc3339
from core.notes import Note
from core.openapi import Answer
from core.parse import Body

Attempts = Annotated[int, Meta(ge=1, le=1000)]
LeaseSeconds = Annotated[int, Meta(ge=1, le=43_200)]
Delay = Annotated[int, Meta(ge=0, le=2_592_000)]


class MakeQueue(Body, frozen=True):
    name: str
    max_attempts: Attempts = 10
    default_lease_seconds: LeaseSeconds = 60
    retry_first_seconds: Delay = 1
    retry_max_seconds: Delay = 3600


class ChangeQueue(Body, frozen=True):
    max_attempts: Attempts | UnsetType = UNSET
    default_lease_seconds: LeaseSeconds | UnsetType = UNSET
    retry_first_seconds: Delay | UnsetType = UNSET
    retry_max_seconds: Delay | UnsetType = UNSET


class Because(Body, frozen=True):
    reason: Note = UNSET


class Purge(Because, frozen=True):
    dead_letters: bool = False


class Stats(Answer):
    """What the queue held at `asOf`. Not `exact`: a figure stopped at the limit of counting."""

    ready: int
    scheduled: int
    in_flight: int
    blocked: int
    dead: int
    exact: bool
    oldest_at: str | None
    settled_per_second: float | None
    enqueued_per_second: float | None
    as_of: str


class Queue(Answer):
    id: str
    name: str
    max_attempts: int
    default_lease_seconds: int
    retry_first_seconds: int
    retry_max_seconds: int
    paused_at: str | None
    pause_reason: str
    created_at: str
    updated_at: str
    stats: Stats | None


def shown(queue: models.Queue) -> dict[str, Any]:
    return listed([queue])[0]


def listed(queues: Sequence[models.Queue]) -> list[dict[str, Any]]:
    stats = standings([queue.id for queue in queues])
    return [_shown(queue, stats.get(queue.id)) for queue in queues]


def _shown(queue: models.Queue, stats: Standing | None) -> dict[str, Any]:
    return {
        "id": queue.uid,
        "name": queue.name,
        "maxAttempts": queue.max_attempts,
        "defaultLeaseSeconds": queue.default_lease_seconds,
        "retryFirstSeconds": queue.retry_first_seconds,
        "retryMaxSeconds": queue.retry_max_seconds,
        "pausedAt": queue.paused_at and rfc3339(queue.paused_at),
        "pauseReason": queue.pause_reason,
        "createdAt": rfc3339(queue.created_at),
        "updatedAt": rfc3339(queue.updated_at),
        "stats": stats and _stats(stats),
    }


def _stats(standing: Standing) -> dict[str, Any]:
    now = standing.now
    return {
        "ready": now.ready,
        "scheduled": now.scheduled,
        "inFlight": now.in_flight,
        "blocked": now.blocked,
        "dead": now.dead,
        "exact": now.exact,
        "oldestAt": now.oldest_at and rfc3339(now.oldest_at),
        "settledPerSecond": standing.settled_per_second,
        "enqueuedPerSecond": standing.enqueued_per_second,
        "asOf": rfc3339(now.at),
    }
