"""Events: enqueue and claim by queue; heartbeat, ack and nack by event and lease token."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from msgspec import UNSET
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.queues import selectors
from apps.queues.api.schemas import events as schemas
from apps.queues.api.views.queues import allowed_queue, optional_body
from apps.queues.models import State
from apps.queues.operations import claim, enqueue, settle, tokens
from core import http, pages, parse
from core.clock import rfc3339
from core.doors import HotView
from core.errors import InvalidParameter, LeaseLost, NotFound
from core.names import as_uuid, check_worker
from core.notes import note
from core.openapi import AnyOf, answered, page_of, problem, query_of, sent
from core.waits import Wait, wait_for

ID = "019ad0a6-6a4c-7c1e-b0f3-5d8a0c6f2b11"
AT = "2026-11-29T12:00:00.000000Z"
OTHER = "019ad0a6-6a4c-7c1e-b0f3-5d8a0c6f2b12"
LOST = {"code": "LEASE_LOST", "message": "The lease expired or was handed to someone else."}
TOKEN = "4.0f8fad5bd9cb469fa16570867728950e"
CLAIMED = {
    "event": {"id": ID, "scheduleId": None, "payload": {"to": "ana"}, "scheduledAt": AT, "attemptCount": 1},
    "leaseToken": TOKEN,
    "leaseExpiresAt": AT,
}


class Events(HotView):
    scopes = {"GET": "read:queues", "POST": "write:queues"}

    @extend_schema(
        operation_id="list_queue_events", parameters=query_of(schemas.EventQuery), responses={200: page_of(schemas.Event)}
    )
    def get(self, request: Request, queue: str) -> HttpResponse:
        """Events that are not settled, by id; `state` is ready, waiting, leased, blocked or dead."""
        found = allowed_queue(request, "read:queues", queue)
        query = parse.query(request._request, schemas.EventQuery)
        rows = selectors.events(found.id, _states(query.state), _after(query.cursor))[: query.limit + 1]
        page = pages.page(list(rows), query.limit, lambda row: [str(row.id)])
        return http.answer(request._request, page | {"items": [schemas.shown(row) for row in page["items"]]})

    @extend_schema(
        operation_id="enqueue",
        request=schemas.Enqueue,
        responses={201: AnyOf(schemas.Enqueued, schemas.EnqueuedEvents)},
        examples=[
            sent("One", {"payload": {"to": "ana"}, "delaySeconds": 60, "idempotencyKey": "welcome-ana"}),
            sent("Several", {"events": [{"payload": {"to": "ana"}}, {"payload": {"to": "ben"}, "groupKey": "ben"}]}),
            answered("Enqueued", {"id": ID, "scheduledAt": AT, "duplicate": False}, status=201),
        ],
    )
    def post(self, request: Request, queue: str) -> HttpResponse:
        """Enqueues one event, or all of `{"events": […]}` or none; a batch answers `{"events": […]}`."""
        found = allowed_queue(request, "write:queues", queue)
        body = parse.body(request._request, schemas.Enqueue)
        done = [schemas.enqueued(event) for event in enqueue.enqueue(found, schemas.new_events(body))]
        if body.events is not UNSET:
            return http.answer(request._request, {"events": done}, 201)
        location = {"Location": f"/v1/event-queues/{found.uid}/events/{done[0]['id']}"}
        return http.answer(request._request, done[0], 201, location)


class OneEvent(APIView):
    scopes = {"GET": "read:queues"}

    @extend_schema(operation_id="get_queue_event", responses={200: schemas.Event})
    def get(self, request: Request, queue: str, event: UUID) -> HttpResponse:
        """One event that is not settled; an acknowledged one is no longer there."""
        found = allowed_queue(request, "read:queues", queue)
        parse.no_query(request._request)
        return http.answer(request._request, schemas.shown(selectors.one_event(found.id, event)))


class Claim(HotView):
    scopes = {"POST": "read:queues"}

    @extend_schema(
        operation_id="claim",
        request=schemas.Claim,
        responses={200: AnyOf(schemas.Claimed, schemas.Claims, None)},
        examples=[sent("Wait for one", {"leaseSeconds": 900, "waitSeconds": 20}), answered("An event", CLAIMED)],
    )
    def post(self, request: Request, queue: str) -> HttpResponse:
        """Leases the next event, or answers null; with `limit` several, as `{"claims": […]}`."""
        found = allowed_queue(request, "read:queues", queue)
        body = optional_body(request._request, schemas.Claim)
        worker = None if body.worker_id is None else check_worker(body.worker_id)
        claims = claim.claim(found, seconds=body.lease_seconds, worker=worker, limit=body.limit or 1)
        if not claims:
            due = selectors.next_due(found.id)
            group = found.notice_key
            wait_for(request._request, Wait((group,), body.wait_seconds, _due_in(due), group))
        shown = [schemas.claimed(one) for one in claims]
        return http.answer(request._request, {"claims": shown} if body.limit else shown[0] if shown else None)


class Heartbeat(HotView):
    scopes = {"POST": "read:queues"}

    @extend_schema(
        operation_id="heartbeat",
        request=schemas.Heartbeat,
        responses={200: schemas.Extended, 409: problem("LEASE_LOST")},
        examples=[
            sent("For 15 minutes", {"leaseToken": TOKEN, "leaseSeconds": 900}),
            answered("Extended", {"leaseExpiresAt": AT}),
        ],
    )
    def post(self, request: Request, event: str) -> HttpResponse:
        """Sets the end of the lease to now + `leaseSeconds`."""
        body = parse.body(request._request, schemas.Heartbeat)
        end = settle.heartbeat(*held(request, event, body.lease_token), body.lease_seconds)
        return http.answer(request._request, {"leaseExpiresAt": rfc3339(end)})


class Ack(HotView):
    scopes = {"POST": "read:queues"}

    @extend_schema(
        operation_id="ack",
        request=schemas.Ack,
        responses={200: schemas.Acked, 409: problem("LEASE_LOST")},
        examples=[sent("Done", {"leaseToken": TOKEN}), answered("Acked", {"status": "acked"})],
    )
    def post(self, request: Request, event: str) -> HttpResponse:
        """The event is done. Again with the same token: the same answer, for 2 days."""
        body = parse.body(request._request, schemas.Ack)
        settle.acknowledge(*held(request, event, body.lease_token))
        return http.answer(request._request, {"status": "acked"})


class Acks(HotView):
    scopes = {"POST": "read:queues"}

    @extend_schema(
        operation_id="ack_several",
        request=schemas.Acks,
        responses={200: schemas.AckResults},
        examples=[
            sent("Two done", {"acks": [{"id": ID, "leaseToken": TOKEN}, {"id": OTHER, "leaseToken": "stale"}]}),
            answered("One was lost", {"results": [{"id": ID, "status": "acked"}, {"id": OTHER, "error": LOST}]}),
        ],
    )
    def post(self, request: Request, queue: str) -> HttpResponse:
        """Up to 100 acknowledgements, each on its own: `results` says of each, in order, `acked` or its error."""
        found = allowed_queue(request, "read:queues", queue)
        body = parse.body(request._request, schemas.Acks)
        faults = settle.acknowledge_several(found.id, schemas.acks_of(body, found.id))
        results = [schemas.ack_result(ack, fault) for ack, fault in zip(body.acks, faults, strict=True)]
        return http.answer(request._request, {"results": results})


class Nack(HotView):
    scopes = {"POST": "read:queues"}

    @extend_schema(
        operation_id="nack",
        request=schemas.Nack,
        responses={200: schemas.GivenBack, 409: problem("LEASE_LOST")},
        examples=[
            sent("Later", {"leaseToken": TOKEN, "error": "mail server down", "retryDelaySeconds": 30}),
            answered("Waiting", {"status": "waiting", "scheduledAt": AT}),
        ],
    )
    def post(self, request: Request, event: str) -> HttpResponse:
        """Gives it back for `retryDelaySeconds`, or exponentially longer each time; after `maxAttempts` it is dead."""
        body = parse.body(request._request, schemas.Nack)
        place = held(request, event, body.lease_token)
        done = settle.nack(*place, error=note(body.error, "error"), delay=body.retry_delay_seconds)
        at = done.scheduled_at
        return http.answer(request._request, {"status": done.status, "scheduledAt": at and rfc3339(at)})


def held(request: Request, event: str, token: str) -> tuple[UUID, tokens.Token]:
    """The event and token of a call that names no queue. Raises NotFound, or LeaseLost for a token of no queue."""
    identifier, read = as_uuid(event), tokens.read(token)
    if identifier is None:
        raise NotFound("There is no such event.")
    queue = selectors.queue_of(read.queue) if read else selectors.queue_that_knows(identifier)
    caller(request).require("read:queues", queue.name)
    if read is None:
        raise LeaseLost()
    return identifier, read


def _states(state: str | None) -> list[State]:
    if state is None:
        return list(State)
    if state not in State:
        raise InvalidParameter(f"Must be one of {', '.join(State)}.", field="state")
    return [State(state)]


def _after(cursor: str | None) -> tuple[Any, ...] | None:
    if cursor is None:
        return None
    identifier = as_uuid(pages.decode_cursor(cursor, [str])[0])
    if identifier is None:
        raise InvalidParameter("This cursor was not made by this list.", field="cursor")
    return (identifier,)


def _due_in(due: selectors.NextDue) -> float | None:
    """A paused queue hands out nothing when something falls due: only its resumption wakes."""
    return None if due.paused or due.seconds is None else max(0.0, due.seconds)
