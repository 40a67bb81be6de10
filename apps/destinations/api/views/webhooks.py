"""Webhooks: their secret, what was sent, and sending by hand."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.destinations.api.schemas.answers import DestinationAnswer
from apps.destinations.api.schemas.attempts import EXAMPLE, AttemptAnswer, SentAnswer, attempt_json, sent_json
from apps.destinations.api.schemas.requests import Resend, Rotate
from apps.destinations.api.views.configure import answer_one, reach
from apps.destinations.api.views.inspect import lease_cursor
from apps.destinations.operations.secrets import rotate, webhook
from apps.destinations.operations.send import resend, send_test
from apps.destinations.selectors.attempts import attempts
from core import http, pages, parse
from core.notes import note
from core.openapi import answered, page_of, problem, query_of, sent

NOT_A_WEBHOOK = problem("NOT_A_WEBHOOK", "INVALID_PARAMETER", "INVALID_FIELD")


class RotateSecret(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(
        operation_id="rotate_webhook_secret", request=Rotate, responses={200: DestinationAnswer, 400: NOT_A_WEBHOOK}
    )
    def post(self, request: Request, destination: str) -> HttpResponse:
        """Only this answer shows the new secret, if it was made here. For a day requests carry both signatures."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        wanted = parse.optional_body(request._request, Rotate)
        reason = note(wanted.reason, "reason")
        changed, secret = rotate(caller(request), str(known.uid), wanted.checked_secret(), reason=reason)
        return answer_one(request, changed, secret=secret)


class Attempts(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(
        operation_id="list_webhook_attempts",
        parameters=query_of(pages.Page),
        responses={200: page_of(AttemptAnswer), 400: NOT_A_WEBHOOK},
    )
    def get(self, request: Request, destination: str) -> HttpResponse:
        """Requests of the last 7 days, the newest first."""
        wanted = parse.query(request._request, pages.Page)
        known = webhook(str(reach(request, "read:events", destination).uid))
        before = lease_cursor(wanted.cursor)
        rows = attempts(known.topic_id, known.consumer_id, limit=wanted.limit + 1, before=before)
        page = pages.page(rows, wanted.limit, lambda row: [str(row.id)])
        return http.answer(request._request, {**page, "items": [attempt_json(row) for row in page["items"]]})


class TestWebhook(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(
        operation_id="test_webhook",
        request=None,
        responses={200: SentAnswer, 400: NOT_A_WEBHOOK},
        examples=[answered("Answered", EXAMPLE)],
    )
    def post(self, request: Request, destination: str) -> HttpResponse:
        """Sends an event of type `towpath.test` now, also when it is paused or disabled, and answers what came of it."""
        parse.no_query(request._request)
        parse.no_body(request._request)
        known = reach(request, "manage:events", destination)
        return http.answer(request._request, sent_json(send_test(caller(request), str(known.uid))))


class ResendEvent(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(
        operation_id="resend_webhook_event",
        request=Resend,
        responses={200: SentAnswer, 400: NOT_A_WEBHOOK},
        examples=[sent("One event", {"sequence": "003.00000000000000000119"}), answered("Answered", EXAMPLE)],
    )
    def post(self, request: Request, destination: str) -> HttpResponse:
        """Sends one event again now, with its own webhook-id; position, leases and dead letters stay as they are."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        wanted = parse.body(request._request, Resend)
        return http.answer(request._request, sent_json(resend(caller(request), str(known.uid), wanted.position())))
