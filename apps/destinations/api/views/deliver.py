"""The worker's verbs: pull, acknowledge, extend. They touch the destination's name only."""

from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from apps.access.api.permissions import caller
from apps.destinations.api.schemas import examples
from apps.destinations.api.schemas.answers import BatchAnswer, ExtendedAnswer, OutcomeAnswer, batch_json, outcome_json
from apps.destinations.api.schemas.requests import Acknowledge, Extend, Pull
from apps.destinations.operations.deliver import acknowledge, extend, pull
from apps.destinations.selectors.find import Found, find
from apps.leases.operations.pull import Nothing
from apps.leases.selectors import due_in
from core import http, parse
from core.clock import rfc3339
from core.doors import HotView
from core.openapi import answered, problem, query_of, sent
from core.waits import Wait, wait_for

NOT_DURABLE = problem("NOT_A_DURABLE_CONSUMER", "INVALID_PARAMETER", "INVALID_FIELD")


def reach(request: Request, reference: str) -> Found:
    found = find(reference)
    caller(request).require("read:events", found.name)
    return found


class PullBatch(HotView):
    scopes = {"POST": "read:events"}

    @extend_schema(
        operation_id="pull",
        request=None,
        parameters=query_of(Pull),
        responses={
            200: BatchAnswer,
            204: None,
            400: NOT_DURABLE,
            409: problem("DESTINATION_PAUSED"),
            429: problem("WINDOW_FULL"),
        },
        examples=[answered("A batch", examples.BATCH)],
    )
    def post(self, request: Request, destination: str) -> HttpResponse:
        """Leases the next batch to this worker for `visibility` seconds; 204 when it is caught up.

        A worker that still holds a lease gets that same lease.
        """
        parse.no_body(request._request)
        wanted = parse.query(request._request, Pull)
        found = reach(request, destination)
        batch = pull(found, limit=wanted.limit, visibility=wanted.visibility, worker=wanted.worker())
        if isinstance(batch, Nothing):
            return answer_nothing(request._request, found, wanted.wait, batch)
        return http.answer(request._request, batch_json(batch))


def answer_nothing(request: HttpRequest, found: Found, wait: int, nothing: Nothing) -> HttpResponse:
    """204, later if the worker waits. One whose filter took nothing so far asks again at once instead."""
    if nothing.more:
        return http.no_content(request, {"Retry-After": "0"})
    if wait:
        keys = (f"topic:{found.topic_id}", f"consumer:{found.consumer_id}")
        due = due_in(found.topic_id, found.consumer_id)
        wait_for(request, Wait(keys=keys, seconds=wait, due_in=due, group=f"destination:{found.uid}"))
    return http.no_content(request)


class AcknowledgeBatch(HotView):
    scopes = {"POST": "read:events"}

    @extend_schema(
        operation_id="acknowledge",
        request=Acknowledge,
        responses={200: OutcomeAnswer, 400: NOT_DURABLE},
        examples=[sent("Done", examples.ACKNOWLEDGE), answered("Committed", examples.OUTCOME)],
    )
    def post(self, request: Request, destination: str) -> HttpResponse:
        """Settles a batch, or with `failed` gives it back. Works while the destination is paused."""
        parse.no_query(request._request)
        wanted = parse.body(request._request, Acknowledge)
        found = reach(request, destination)
        outcome = acknowledge(found, wanted.lease_id, wanted.generation, wanted.failure())
        return http.answer(request._request, outcome_json(outcome))


class ExtendLease(HotView):
    scopes = {"POST": "read:events"}

    @extend_schema(
        operation_id="extend",
        request=Extend,
        responses={200: ExtendedAnswer, 400: NOT_DURABLE, 409: problem("LEASE_LOST")},
        examples=[sent("Two more minutes", {**examples.LEASE_REFERENCE, "visibility": 120})],
    )
    def post(self, request: Request, destination: str) -> HttpResponse:
        """The lease ends `visibility` seconds from now, also when that is sooner than before."""
        parse.no_query(request._request)
        wanted = parse.body(request._request, Extend)
        found = reach(request, destination)
        until = extend(found, wanted.lease_id, wanted.generation, wanted.visibility)
        return http.answer(request._request, {"expiresAt": rfc3339(until)})
