"""Queues themselves: make, list, change, pause, resume, purge, delete."""

from typing import Any, TypeVar

import msgspec
from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.queues.api.filters import QueueFilter
from apps.queues.api.schemas import queues as schemas
from apps.queues.models import Queue
from apps.queues.operations import queues as operations
from apps.queues.selectors import QueueRow, find_queue
from core import http, pages, parse
from core.errors import NotFound
from core.notes import note
from core.openapi import answered, filters_of, page_of, problem, query_of, sent

Shape = TypeVar("Shape", bound=msgspec.Struct)

EXAMPLE = {
    "id": "019ad0a6-6a4c-7c1e-b0f3-5d8a0c6f2b11",
    "name": "emails",
    "maxAttempts": 10,
    "defaultLeaseSeconds": 60,
    "retryFirstSeconds": 1,
    "retryMaxSeconds": 3600,
    "pausedAt": None,
    "pauseReason": "",
    "createdAt": "2026-11-29T12:00:00.000000Z",
    "updatedAt": "2026-11-29T12:00:00.000000Z",
    "stats": None,
}


def allowed_queue(request: Request, scope: str, queue: str) -> QueueRow:
    """The queue that a path names, if the token's patterns reach its name. Raises NotFound."""
    found = find_queue(queue)
    caller(request).require(scope, found.name)
    return found


def optional_body(request: HttpRequest, shape: type[Shape]) -> Shape:
    """Where every field has a default, no body means all defaults."""
    return parse.body(request, shape) if request.body else shape()


class Queues(APIView):
    scopes = {"GET": "read:queues", "POST": "manage:queues"}

    @extend_schema(
        operation_id="list_queues",
        parameters=query_of(pages.Page) + filters_of(QueueFilter),
        responses={200: page_of(schemas.Queue)},
    )
    def get(self, request: Request) -> HttpResponse:
        """Queues in the order of their names."""
        found = Queue.objects.filter(caller(request).named("read:queues"), deleted_at=None)
        page = pages.listing(request._request, found, "name", lambda row: row, QueueFilter)
        return http.answer(request._request, page | {"items": schemas.listed(page["items"])})

    @extend_schema(
        operation_id="make_queue",
        request=schemas.MakeQueue,
        responses={201: schemas.Queue, 409: problem("NAME_TAKEN")},
        examples=[sent("A queue", {"name": "emails", "maxAttempts": 5}), answered("Made", EXAMPLE, status=201)],
    )
    def post(self, request: Request) -> HttpResponse:
        """Makes a queue. `retryFirstSeconds` doubles with each attempt up to `retryMaxSeconds`, with jitter."""
        body = parse.body(request._request, schemas.MakeQueue)
        caller(request).require("manage:queues", body.name)
        queue = operations.create(caller(request), **msgspec.structs.asdict(body))
        location = {"Location": f"/v1/event-queues/{queue.uid}"}
        return http.answer(request._request, schemas.shown(queue), 201, location)


class OneQueue(APIView):
    scopes = {"GET": "read:queues", "PATCH": "manage:queues", "DELETE": "manage:queues"}

    @extend_schema(operation_id="get_queue", responses={200: schemas.Queue}, examples=[answered("A queue", EXAMPLE)])
    def get(self, request: Request, queue: str) -> HttpResponse:
        """The queue with its settings and its last sample."""
        found = allowed_queue(request, "read:queues", queue)
        row = Queue.objects.filter(id=found.id, deleted_at=None).first()
        if row is None:
            raise NotFound("There is no such queue.")
        return http.answer(request._request, schemas.shown(row))

    @extend_schema(
        operation_id="change_queue",
        request=schemas.ChangeQueue,
        responses={200: schemas.Queue},
        examples=[sent("Fewer attempts", {"maxAttempts": 3}), answered("Changed", EXAMPLE)],
    )
    def patch(self, request: Request, queue: str) -> HttpResponse:
        """Changes settings; what is leased keeps its lease."""
        found = allowed_queue(request, "manage:queues", queue)
        body = parse.body(request._request, schemas.ChangeQueue)
        given = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not msgspec.UNSET}
        return http.answer(request._request, schemas.shown(operations.change(caller(request), found.id, **given)))

    @extend_schema(operation_id="delete_queue", responses={200: None})
    def delete(self, request: Request, queue: str) -> HttpResponse:
        """Deletes the queue with its events and schedules; waiting claims and later acknowledgements answer 404."""
        found = allowed_queue(request, "manage:queues", queue)
        operations.delete(caller(request), found.id)
        return http.no_content(request._request)


class Pause(APIView):
    scopes = {"POST": "manage:queues"}

    @extend_schema(
        operation_id="pause_queue",
        request=schemas.Because,
        responses={200: schemas.Queue},
        examples=[sent("With a reason", {"reason": "deploy"}), answered("Paused", EXAMPLE)],
    )
    def post(self, request: Request, queue: str) -> HttpResponse:
        """Hands out nothing until resumed. What is leased can be settled; claims wait and answer null at their deadline."""
        found = allowed_queue(request, "manage:queues", queue)
        body = optional_body(request._request, schemas.Because)
        paused = operations.pause(caller(request), found.id, reason_of(body))
        return http.answer(request._request, schemas.shown(paused))


class Resume(APIView):
    scopes = {"POST": "manage:queues"}

    @extend_schema(operation_id="resume_queue", request=schemas.Because, responses={200: schemas.Queue})
    def post(self, request: Request, queue: str) -> HttpResponse:
        """Hands out again."""
        found = allowed_queue(request, "manage:queues", queue)
        body = optional_body(request._request, schemas.Because)
        resumed = operations.resume(caller(request), found.id, reason_of(body))
        return http.answer(request._request, schemas.shown(resumed))


class Purge(APIView):
    scopes = {"POST": "manage:queues"}

    @extend_schema(
        operation_id="purge_queue",
        request=schemas.Purge,
        responses={200: schemas.Queue},
        examples=[sent("Dead letters too", {"deadLetters": True, "reason": "test data"}), answered("Purged", EXAMPLE)],
    )
    def post(self, request: Request, queue: str) -> HttpResponse:
        """Removes every event enqueued by now, leased ones too; dead letters stay unless `deadLetters` is true."""
        found = allowed_queue(request, "manage:queues", queue)
        body = optional_body(request._request, schemas.Purge)
        purged, _ = operations.purge(caller(request), found.id, dead_too=body.dead_letters, reason=reason_of(body))
        return http.answer(request._request, schemas.shown(purged))


def reason_of(body: Any) -> str:
    return note(body.reason, "reason") or ""
