"""Making, showing, changing and deleting destinations; pausing and resuming them."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.destinations.api.filters import DestinationFilter
from apps.destinations.api.schemas import examples
from apps.destinations.api.schemas.answers import DestinationAnswer
from apps.destinations.api.schemas.requests import Change, Make, Pause, Reason
from apps.destinations.models import Destination
from apps.destinations.operations.change import change, remove
from apps.destinations.operations.make import make
from apps.destinations.operations.pause import pause, resume
from apps.destinations.selectors.find import get
from apps.destinations.selectors.standing import shown, shown_one
from core import http, pages, parse
from core.notes import note
from core.openapi import answered, filters_of, page_of, problem, query_of, sent

MADE = answered("A durable consumer", examples.DESTINATION)


def reach(request: Request, scope: str, reference: str) -> Destination:
    """The destination, if the token's patterns reach its name. Raises NotFound, Forbidden."""
    destination = get(reference)
    caller(request).require(scope, destination.name)
    return destination


def answer_one(request: Request, destination: Destination, status: int = 200, secret: str | None = None) -> HttpResponse:
    """With a secret only where it has just been made."""
    headers = {"Location": f"/v1/event-destinations/{destination.uid}"} if status == 201 else None
    thing = shown_one(destination)
    if secret is not None:
        thing["webhook"] = {**thing["webhook"], "secret": secret}
    return http.answer(request._request, thing, status, headers)


class Destinations(APIView):
    """Event destinations: who wants the events of a topic, and how."""

    scopes = {"GET": "read:events", "POST": "manage:events"}

    @extend_schema(
        operation_id="list_destinations",
        parameters=query_of(pages.Page) + filters_of(DestinationFilter),
        responses={200: page_of(DestinationAnswer)},
    )
    def get(self, request: Request) -> HttpResponse:
        rows = Destination.objects.select_related("topic").filter(caller(request).named("read:events"))
        page = pages.listing(request._request, rows, "name", lambda row: row, DestinationFilter)
        return http.answer(request._request, {**page, "items": shown(page["items"])})

    @extend_schema(
        operation_id="make_destination",
        request=Make,
        responses={201: DestinationAnswer, 409: problem("NAME_TAKEN")},
        examples=[sent("A durable consumer", examples.MAKE), answered("Made", examples.DESTINATION, status=201)],
    )
    def post(self, request: Request) -> HttpResponse:
        parse.no_query(request._request)
        wanted = parse.body(request._request, Make)
        caller(request).require("manage:events", wanted.name)
        caller(request).require("read:events", wanted.topic)
        for scope, name in wanted.names_of_target():
            caller(request).require_target(scope, name)
        made = make(caller(request), **wanted.settings_of_destination())
        return answer_one(request, made.destination, 201, made.secret)


class OneDestination(APIView):
    scopes = {"GET": "read:events", "PATCH": "manage:events", "DELETE": "manage:events"}

    @extend_schema(operation_id="get_destination", responses={200: DestinationAnswer}, examples=[MADE])
    def get(self, request: Request, destination: str) -> HttpResponse:
        parse.no_query(request._request)
        return answer_one(request, reach(request, "read:events", destination))

    @extend_schema(
        operation_id="change_destination",
        request=Change,
        responses={200: DestinationAnswer, 409: problem("NAME_TAKEN")},
        examples=[sent("A narrower window", {"window": 200}), MADE],
    )
    def patch(self, request: Request, destination: str) -> HttpResponse:
        """What is not given stays. Topic, type, start and target cannot be changed."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        changes = parse.body(request._request, Change).changes()
        caller(request).require("manage:events", changes.get("name", known.name))
        return answer_one(request, change(caller(request), str(known.uid), **changes))

    @extend_schema(operation_id="delete_destination", responses={204: None})
    def delete(self, request: Request, destination: str) -> HttpResponse:
        """Its position is gone with it; batches that are out find nothing to acknowledge any more."""
        parse.no_query(request._request)
        parse.no_body(request._request)
        remove(caller(request), str(reach(request, "manage:events", destination).uid))
        return http.no_content(request._request)


class PauseDestination(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(
        operation_id="pause_destination",
        request=Pause,
        responses={200: DestinationAnswer},
        examples=[sent("Until two", {"reason": "deploy", "resumeAt": "2026-11-29T14:00:00Z"})],
    )
    def post(self, request: Request, destination: str) -> HttpResponse:
        """Nothing more is handed out, redeliveries included; what is out can still be acknowledged."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        wanted = parse.optional_body(request._request, Pause)
        reason = note(wanted.reason, "reason")
        return answer_one(request, pause(caller(request), str(known.uid), reason=reason, resume_at=wanted.until()))


class ResumeDestination(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(operation_id="resume_destination", request=Reason, responses={200: DestinationAnswer}, examples=[MADE])
    def post(self, request: Request, destination: str) -> HttpResponse:
        """On one that is not paused it changes nothing."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        reason = note(parse.optional_body(request._request, Reason).reason, "reason")
        return answer_one(request, resume(caller(request), str(known.uid), reason=reason))
