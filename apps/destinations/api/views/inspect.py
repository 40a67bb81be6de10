"""What an operator looks at and tends: lag with its cause, and the leases in force."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.destinations.api.schemas import examples
from apps.destinations.api.schemas.answers import LagAnswer, LeaseAnswer, ParkedAnswer, lag_json, lease_json
from apps.destinations.api.schemas.requests import ExtendLease, Reason
from apps.destinations.api.views.configure import reach
from apps.destinations.operations.tend import expire_lease, extend_lease, park_lease
from apps.destinations.selectors.outcomes import outcomes
from apps.destinations.selectors.standing import standing
from apps.leases.selectors import leases, skipped
from core import http, pages, parse
from core.errors import InvalidParameter
from core.names import as_uuid
from core.notes import note
from core.openapi import answered, page_of, problem, query_of


class Lag(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(operation_id="lag", responses={200: LagAnswer}, examples=[answered("Held by a lease", examples.LAG)])
    def get(self, request: Request, destination: str) -> HttpResponse:
        """How far behind it is, what holds it, and why; head and position from one snapshot.

        Lag counts from the head back to the first unsettled event: leased events count. With a filter it counts all events
        (`exact` is false). `lagSeconds` is null when it is not known. `deadLetters` counts up to 1,000.
        """
        parse.no_query(request._request)
        known = reach(request, "read:events", destination)
        key = (known.topic_id, known.consumer_id)
        dead = outcomes([key])[key].dead
        return http.answer(request._request, lag_json(standing(known).status, dead, skipped(*key)))


class Leases(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(operation_id="list_leases", parameters=query_of(pages.Page), responses={200: page_of(LeaseAnswer)})
    def get(self, request: Request, destination: str) -> HttpResponse:
        """Leases in force, and batches that wait to be delivered again, in the order of their first hand-out."""
        wanted = parse.query(request._request, pages.Page)
        known = reach(request, "read:events", destination)
        after = lease_cursor(wanted.cursor)
        rows = leases(known.topic_id, known.consumer_id, limit=wanted.limit + 1, after=after)
        page = pages.page(rows, wanted.limit, lambda lease: [str(lease.id)])
        return http.answer(request._request, {**page, "items": [lease_json(lease) for lease in page["items"]]})


def lease_cursor(cursor: str | None) -> UUID | None:
    """Raises InvalidParameter for a cursor of another list."""
    if cursor is None:
        return None
    after = as_uuid(pages.decode_cursor(cursor, [str])[0])
    if after is None:
        raise InvalidParameter("This cursor was not made by this list.", field="cursor")
    return after


class ExpireLease(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(operation_id="expire_lease", request=Reason, responses={200: LeaseAnswer})
    def post(self, request: Request, destination: str, lease: UUID) -> HttpResponse:
        """Delivered again at once; the worker's acknowledgement is stale from now on."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        reason = note(parse.optional_body(request._request, Reason).reason, "reason")
        expired = expire_lease(caller(request), str(known.uid), lease, reason=reason)
        return http.answer(request._request, lease_json(expired))


class ExtendLeaseOfWorker(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(
        operation_id="extend_lease", request=ExtendLease, responses={200: LeaseAnswer, 409: problem("LEASE_LOST")}
    )
    def post(self, request: Request, destination: str, lease: UUID) -> HttpResponse:
        """Gives the worker `visibility` seconds from now, whatever the generation."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        wanted = parse.optional_body(request._request, ExtendLease)
        reason = note(wanted.reason, "reason")
        extended = extend_lease(caller(request), str(known.uid), lease, wanted.visibility, reason=reason)
        return http.answer(request._request, lease_json(extended))


class ParkLease(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(operation_id="park_lease", request=Reason, responses={200: ParkedAnswer})
    def post(self, request: Request, destination: str, lease: UUID) -> HttpResponse:
        """Each event becomes a dead letter, and the cursor may pass; the worker's acknowledgement is stale from now on."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        reason = note(parse.optional_body(request._request, Reason).reason, "reason")
        letters = park_lease(caller(request), str(known.uid), lease, reason=reason)
        return http.answer(request._request, {"leaseId": str(lease), "state": "parked", "deadLetters": letters})
