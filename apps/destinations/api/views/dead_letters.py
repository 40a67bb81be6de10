"""Dead letters: events that were handed out as often as the destination allows, or that an operator parked."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.destinations.api.filters import DeadLetterFilter
from apps.destinations.api.schemas.dead_letters import EXAMPLE, DeadLetterAnswer, letter_json
from apps.destinations.api.schemas.requests import Reason
from apps.destinations.api.views.configure import reach
from apps.destinations.operations.dead_letters import discard, redrive
from apps.leases.models import DeadLetter
from core import http, pages, parse
from core.notes import note
from core.openapi import answered, filters_of, page_of, problem, query_of


class DeadLetters(APIView):
    scopes = {"GET": "manage:events"}

    @extend_schema(
        operation_id="list_dead_letters",
        parameters=query_of(pages.Page) + filters_of(DeadLetterFilter),
        responses={200: page_of(DeadLetterAnswer)},
    )
    def get(self, request: Request, destination: str) -> HttpResponse:
        """In the order in which they first died, with a copy of the event; redriven ones are shown for 7 days."""
        known = reach(request, "manage:events", destination)
        rows = DeadLetter.objects.filter(topic_id=known.topic_id, consumer_id=known.consumer_id)
        return http.answer(request._request, pages.listing(request._request, rows, "id", letter_json, DeadLetterFilter))


class RedriveDeadLetter(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(
        operation_id="redrive_dead_letter",
        request=Reason,
        responses={200: DeadLetterAnswer, 409: problem("ALREADY_REDRIVEN")},
        examples=[answered("Out again", {**EXAMPLE, "state": "redriven"})],
    )
    def post(self, request: Request, destination: str, letter: UUID) -> HttpResponse:
        """Handed out to this destination only, as attempt 1 with its full number of deliveries, outside `committed`."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        reason = note(parse.optional_body(request._request, Reason).reason, "reason")
        redriven = redrive(caller(request), str(known.uid), letter, reason=reason)
        return http.answer(request._request, letter_json(redriven))


class DiscardDeadLetter(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(
        operation_id="discard_dead_letter",
        request=Reason,
        responses={200: DeadLetterAnswer, 409: problem("ALREADY_REDRIVEN")},
        examples=[answered("Gone", {**EXAMPLE, "state": "discarded"})],
    )
    def post(self, request: Request, destination: str, letter: UUID) -> HttpResponse:
        """Removed for good; the answer is the last copy of it."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        reason = note(parse.optional_body(request._request, Reason).reason, "reason")
        discarded = discard(caller(request), str(known.uid), letter, reason=reason)
        return http.answer(request._request, letter_json(discarded, "discarded"))
