"""Queues as clients send and see them."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from apps.queues import models
from apps.queues.selectors import Sample, last_samples
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
    settled_per_second: float
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
        "stats": _stats(last_samples(queue.id)),
    }


def _stats(samples: list[Sample]) -> dict[str, Any] | None:
    if not samples:
        return None
    newest = samples[0]
    seconds = (newest.at - samples[1].at).total_seconds() if len(samples) > 1 else 0
    return {
        "ready": newest.ready,
        "scheduled": newest.scheduled,
        "inFlight": newest.in_flight,
        "blocked": newest.blocked,
        "dead": newest.dead,
        "exact": newest.exact,
        "oldestAt": newest.oldest_at and rfc3339(newest.oldest_at),
        "settledPerSecond": round(newest.settled / seconds, 3) if seconds else 0.0,
        "asOf": rfc3339(newest.at),
    }
