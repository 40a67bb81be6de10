"""Events of queues as clients send and see them. Payloads are never parsed on their way through."""

from typing import Annotated, Any

import msgspec
import orjson
from django.conf import settings
from msgspec import UNSET, Meta, UnsetType

from apps.queues import models
from apps.queues.api.schemas.queues import Delay, LeaseSeconds
from apps.queues.operations import claim, enqueue, settle
from apps.queues.operations.tokens import read
from core.clock import parse_time, rfc3339
from core.errors import DomainError, InvalidField, TooLarge
from core.names import as_uuid
from core.notes import Note
from core.openapi import Answer
from core.pages import Page
from core.parse import Body

Key = Annotated[str, Meta(min_length=1, max_length=200)]
Priority = Annotated[int, Meta(ge=-100, le=100)]


class NewEvent(Body, frozen=True):
    payload: msgspec.Raw
    scheduled_at: str | None = None
    delay_seconds: Delay | None = None
    priority: Priority = 0
    group_key: Key | None = None
    idempotency_key: Key | None = None


class Enqueue(Body, frozen=True):
    """One event, or `events` alone."""

    payload: msgspec.Raw | UnsetType = UNSET
    scheduled_at: str | None = None
    delay_seconds: Delay | None = None
    priority: Priority = 0
    group_key: Key | None = None
    idempotency_key: Key | None = None
    # How many it may be is a setting, so the range is told where that is known.
    events: Annotated[list[NewEvent], Meta(extra_json_schema={"minItems": 1})] | UnsetType = UNSET


class Claim(Body, frozen=True):
    lease_seconds: LeaseSeconds | None = None
    wait_seconds: Annotated[int, Meta(ge=0, le=60)] = 0
    worker_id: str | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] | None = None


class Heartbeat(Body, frozen=True):
    lease_token: str
    lease_seconds: LeaseSeconds


class Ack(Body, frozen=True):
    lease_token: str


class OneAck(Body, frozen=True):
    id: str
    lease_token: str


class Acks(Body, frozen=True):
    acks: Annotated[list[OneAck], Meta(min_length=1, max_length=100)]


class Nack(Body, frozen=True):
    lease_token: str
    error: Note = UNSET
    retry_delay_seconds: Delay | None = None


class EventQuery(Page, frozen=True):
    state: str | None = None


class Enqueued(Answer):
    id: str
    scheduled_at: str
    duplicate: bool


class EnqueuedEvents(Answer):
    events: list[Enqueued]


class ClaimedEvent(Answer):
    id: str
    schedule_id: str | None
    payload: dict[str, Any]
    scheduled_at: str
    attempt_count: int


class Claimed(Answer):
    event: ClaimedEvent
    lease_token: str
    lease_expires_at: str


class Claims(Answer):
    claims: list[Claimed]


class Extended(Answer):
    lease_expires_at: str


class Acked(Answer):
    status: str


class AckFault(Answer):
    code: str
    message: str


class AckResult(Answer):
    """`status` or `error`."""

    id: str
    status: str | UnsetType = UNSET
    error: AckFault | UnsetType = UNSET


class AckResults(Answer):
    results: list[AckResult]


class GivenBack(Answer):
    status: str
    scheduled_at: str | None


class Event(Answer):
    id: str
    state: str
    payload: dict[str, Any]
    priority: int
    group_key: str | None
    idempotency_key: str | None
    scheduled_at: str
    due_at: str | None
    attempt_count: int
    worker_id: str | None
    schedule_id: str | None
    caused_by: str | None
    error: str | None
    enqueued_at: str
    died_at: str | None


class Redriven(Answer):
    id: str
    caused_by: str
    scheduled_at: str


def new_events(body: Enqueue) -> list[enqueue.NewEvent]:
    """Raises InvalidField or TooLarge."""
    if isinstance(body.events, UnsetType):
        return [_new_event(_alone(body), "")]
    if body != Enqueue(events=body.events):
        raise InvalidField("Give one event or `events`, not both.", field="events")
    most = settings.TOWPATH["MAX_BATCH_EVENTS"]
    if not 1 <= len(body.events) <= most:
        raise InvalidField(f"A batch has 1 to {most} events.", field="events", min=1, max=most)
    return [_new_event(event, f"events[{index}].") for index, event in enumerate(body.events)]


def _alone(body: Enqueue) -> NewEvent:
    if isinstance(body.payload, UnsetType):
        raise InvalidField("A payload is needed.", field="payload")
    given = {name: value for name, value in msgspec.structs.asdict(body).items() if name != "events"}
    return NewEvent(**given)


def _new_event(event: NewEvent, at: str) -> enqueue.NewEvent:
    if event.scheduled_at is not None and event.delay_seconds is not None:
        raise InvalidField("Give scheduledAt or delaySeconds, not both.", field=f"{at}delaySeconds")
    return enqueue.NewEvent(
        payload_text(event.payload, f"{at}payload"),
        None if event.scheduled_at is None else parse_time(event.scheduled_at, f"{at}scheduledAt"),
        event.delay_seconds or 0,
        event.priority,
        event.group_key,
        event.idempotency_key,
    )


def payload_text(payload: msgspec.Raw, field: str) -> str:
    """The text as sent. Raises InvalidField when it is no object, TooLarge over the limit."""
    text, most = bytes(payload).strip(), settings.TOWPATH["MAX_EVENT_BYTES"]
    if not text.startswith(b"{"):
        raise InvalidField("Must be a JSON object.", field=field)
    if len(text) > most:
        raise TooLarge(f"A payload has at most {most} bytes.", field=field, max=most)
    return text.decode()


def acks_of(body: Acks, queue: int) -> list[settle.Ack]:
    """A token of another queue holds nothing in this one."""
    tokens = [read(ack.lease_token) for ack in body.acks]
    secrets = [token.secret if token and token.queue == queue else None for token in tokens]
    return [(as_uuid(ack.id), secret) for ack, secret in zip(body.acks, secrets, strict=True)]


def ack_result(ack: OneAck, fault: DomainError | None) -> dict[str, Any]:
    if fault is None:
        return {"id": ack.id, "status": "acked"}
    return {"id": ack.id, "error": {"code": fault.code, "message": fault.message}}


def enqueued(event: enqueue.Enqueued) -> dict[str, Any]:
    return {"id": event.id, "scheduledAt": rfc3339(event.scheduled_at), "duplicate": event.duplicate}


def claimed(found: claim.Claim) -> dict[str, Any]:
    event = {
        "id": found.id,
        "scheduleId": found.schedule_id,
        "payload": orjson.Fragment(found.payload),
        "scheduledAt": rfc3339(found.scheduled_at),
        "attemptCount": found.attempt_count,
    }
    return {"event": event, "leaseToken": str(found.token), "leaseExpiresAt": rfc3339(found.expires_at)}


def shown(event: models.QueueEvent) -> dict[str, Any]:
    return {
        "id": event.id,
        "state": event.state,
        "payload": orjson.Fragment(event.payload),
        "priority": event.priority,
        "groupKey": event.group_key,
        "idempotencyKey": event.idempotency_key,
        "scheduledAt": rfc3339(event.scheduled_at),
        "dueAt": event.due_at and rfc3339(event.due_at),
        "attemptCount": event.attempts,
        "workerId": event.leased_by,
        "scheduleId": event.schedule_id,
        "causedBy": event.caused_by,
        "error": event.error,
        "enqueuedAt": rfc3339(event.enqueued_at),
        "diedAt": event.died_at and rfc3339(event.died_at),
    }
