"""Dead letters: look, redrive, discard."""

from datetime import datetime
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.queues import selectors
from apps.queues.api.schemas import events as schemas
from apps.queues.api.schemas.queues import Because
from apps.queues.api.views.queues import allowed_queue, optional_body, reason_of
from apps.queues.operations import dead_letters as operations
from core import http, pages, parse
from core.clock import parse_time, rfc3339
from core.openapi import page_of, query_of


class DeadLetters(APIView):
    scopes = {"GET": "manage:queues"}

    @extend_schema(
        operation_id="list_queue_dead_letters",
        parameters=query_of(pages.Page),
        responses={200: page_of(schemas.Event)},
    )
    def get(self, request: Request, queue: str) -> HttpResponse:
        """Events given up after their last attempt, the latest first."""
        found = allowed_queue(request, "manage:queues", queue)
        query = parse.query(request._request, pages.Page)
        rows = selectors.dead_letters(found.id, _after(query.cursor))[: query.limit + 1]
        page = pages.page(list(rows), query.limit, lambda row: [rfc3339(row.died_at or row.enqueued_at), row.n])
        return http.answer(request._request, page | {"items": [schemas.shown(row) for row in page["items"]]})


class Redrive(APIView):
    scopes = {"POST": "manage:queues"}

    @extend_schema(operation_id="redrive_queue_event", request=Because, responses={200: schemas.Redriven})
    def post(self, request: Request, queue: str, event: UUID) -> HttpResponse:
        """Enqueues it anew: another id, all attempts again, at the end of its group key. The second time: 404."""
        found = allowed_queue(request, "manage:queues", queue)
        body = optional_body(request._request, Because)
        new = operations.redrive(caller(request), found, event, reason_of(body))
        shown = {"id": new.id, "causedBy": event, "scheduledAt": rfc3339(new.scheduled_at)}
        return http.answer(request._request, shown)


class Discard(APIView):
    scopes = {"POST": "manage:queues"}

    @extend_schema(operation_id="discard_queue_event", request=Because, responses={200: schemas.Event})
    def post(self, request: Request, queue: str, event: UUID) -> HttpResponse:
        """Removes a dead letter for good; the answer is the last copy of it."""
        found = allowed_queue(request, "manage:queues", queue)
        body = optional_body(request._request, Because)
        gone = operations.discard(caller(request), found, event, ["dead"], reason_of(body))
        return http.answer(request._request, {**schemas.shown(gone), "state": "discarded"})


def _after(cursor: str | None) -> tuple[datetime, int] | None:
    if cursor is None:
        return None
    at, n = pages.decode_cursor(cursor, [str, int])
    return parse_time(at, "cursor"), n
