"""Bulk operations: the same as in the console, for programs."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.console.api import schemas
from apps.console.api.filters import BulkFilter, BulkItemFilter
from apps.console.operations.begin_bulk import begin
from apps.console.operations.cancel_bulk import cancel
from apps.console.selectors import bulk as selectors
from apps.console.selectors.matching import AREAS, Wanted
from core import http, pages, parse
from core.notes import note
from core.openapi import answered, filters_of, page_of, problem, query_of, sent

EITHER = ("manage:events", "manage:queues")
BEGIN = {
    "verb": "redrive",
    "objects": "dead-letters",
    "filter": {"name": "billing", "fingerprint": "5b0f2f2f0c1d9a77"},
    "rate": 50,
    "reason": "the billing system is back",
}


class Bulks(APIView):
    scopes = {"GET": EITHER, "POST": EITHER}

    @extend_schema(
        operation_id="list_bulk_operations",
        parameters=query_of(pages.Page) + filters_of(BulkFilter),
        responses={200: page_of(schemas.BulkAnswer)},
    )
    def get(self, request: Request) -> HttpResponse:
        """The latest first: those of this client, and of every area that it may manage without bounds."""
        rows = selectors.visible(caller(request))
        return http.answer(request._request, pages.listing(request._request, rows, "-id", schemas.bulk_json, BulkFilter))

    @extend_schema(
        operation_id="begin_bulk_operation",
        request=schemas.BeginBulk,
        responses={200: schemas.BulkPreview, 201: schemas.BulkAnswer},
        examples=[sent("Redrive one error", BEGIN), answered("Begun", schemas.EXAMPLE, status=201)],
    )
    def post(self, request: Request) -> HttpResponse:
        """Freezes all that matches now and works it off in the background; with `dryRun` only says how much that is."""
        parse.no_query(request._request)
        body = parse.body(request._request, schemas.BeginBulk)
        wanted = body.wanted()
        scope = f"manage:{AREAS[wanted.objects]}"
        caller(request).require(scope)
        if body.dry_run:
            return _preview(request, wanted, scope)
        return _begun(request, body, wanted, scope)


def _preview(request: Request, wanted: Wanted, scope: str) -> HttpResponse:
    found = selectors.preview(wanted, lambda name: caller(request).allows(scope, name))
    sample = [{"name": name, "target": None if target is None else str(target)} for name, target in found.sample]
    return http.answer(request._request, {"matching": found.number, "more": found.more, "sample": sample})


def _begun(request: Request, body: schemas.BeginBulk, wanted: Wanted, scope: str) -> HttpResponse:
    asker = caller(request)
    made = begin(asker, wanted, body.why(), rate=body.rate, reaches=lambda name: asker.allows(scope, name))
    headers = {"Location": f"/v1/bulk-operations/{made.pk}"}
    return http.answer(request._request, schemas.bulk_json(made), 201, headers)


class OneBulk(APIView):
    scopes = {"GET": EITHER}

    @extend_schema(
        operation_id="bulk_operation",
        responses={200: schemas.BulkAnswer},
        examples=[answered("Running", schemas.EXAMPLE)],
    )
    def get(self, request: Request, number: UUID) -> HttpResponse:
        """How far it has come."""
        parse.no_query(request._request)
        return http.answer(request._request, schemas.bulk_json(selectors.one(caller(request), number)))


class CancelBulk(APIView):
    scopes = {"POST": EITHER}

    @extend_schema(
        operation_id="cancel_bulk_operation",
        request=schemas.BulkReason,
        responses={200: schemas.BulkAnswer, 409: problem("BULK_ENDED")},
    )
    def post(self, request: Request, number: UUID) -> HttpResponse:
        """Begins no item any more. What is done stays done, and the rest as it was."""
        parse.no_query(request._request)
        reason = note(parse.optional_body(request._request, schemas.BulkReason).reason, "reason") or ""
        found = selectors.one(caller(request), number)
        caller(request).require(f"manage:{found.area}")
        return http.answer(request._request, schemas.bulk_json(cancel(caller(request), found.pk, reason)))


class BulkItems(APIView):
    scopes = {"GET": EITHER}

    @extend_schema(
        operation_id="bulk_operation_items",
        parameters=query_of(pages.Page) + filters_of(BulkItemFilter),
        responses={200: page_of(schemas.BulkItemAnswer)},
    )
    def get(self, request: Request, number: UUID) -> HttpResponse:
        """What became of each: `home` is the id of the destination or queue, `target` that of the dead letter in it."""
        rows = selectors.one(caller(request), number).items.all()
        return http.answer(request._request, pages.listing(request._request, rows, "n", schemas.item_json, BulkItemFilter))
