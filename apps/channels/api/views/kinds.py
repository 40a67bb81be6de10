"""Kinds of channels: list, make, look at, change."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.channels.api.schemas import kinds as schemas
from apps.channels.models import ChannelKind
from apps.channels.operations import kinds as operations
from core import http, pages, parse
from core.errors import NotFound
from core.openapi import answered, page_of, problem, query_of, sent

EXAMPLE = {
    "id": "job",
    "name": "job",
    "documents": {"job": "one"},
    "retention": {"events": {"records": 10000, "seconds": 604800, "bytes": None}, "logs": {"seconds": 2592000}},
    "createdAt": "2026-11-29T12:00:00.000000Z",
    "updatedAt": "2026-11-29T12:00:00.000000Z",
}


class Kinds(APIView):
    scopes = {"GET": "read:channels", "POST": "manage:channels"}

    @extend_schema(
        operation_id="list_channel_kinds",
        parameters=query_of(pages.Page),
        responses={200: page_of(schemas.ChannelKind)},
        examples=[answered("Kinds", {"items": [EXAMPLE], "nextCursor": None})],
    )
    def get(self, request: Request) -> HttpResponse:
        """Kinds in the order of their names."""
        rows = ChannelKind.objects.filter(caller(request).named("read:channels"))
        return http.answer(request._request, pages.listing(request._request, rows, "name", schemas.shown))

    @extend_schema(
        operation_id="make_channel_kind",
        request=schemas.MakeKind,
        responses={201: schemas.ChannelKind, 409: problem("NAME_TAKEN")},
        examples=[
            sent("Orders", {"name": "order", "documents": {"order": "one", "parcels": "many"}}),
            answered("Made", EXAMPLE, status=201),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """Makes a kind. Its channels are named `name:key`; a `one` document is one, a `many` document has an id each."""
        body = parse.body(request._request, schemas.MakeKind)
        caller(request).require("manage:channels", body.name)
        kind = operations.create(caller(request), body.name, {**schemas.DEFAULTS, **schemas.settings_of(body)})
        location = {"Location": f"/v1/channel-kinds/{kind.name}"}
        return http.answer(request._request, schemas.shown(kind), 201, location)


class OneKind(APIView):
    scopes = {"GET": "read:channels", "PATCH": "manage:channels"}

    @extend_schema(
        operation_id="get_channel_kind", responses={200: schemas.ChannelKind}, examples=[answered("A kind", EXAMPLE)]
    )
    def get(self, request: Request, kind: str) -> HttpResponse:
        """The kind with its documents and retention."""
        caller(request).require("read:channels", kind)
        found = ChannelKind.objects.filter(name=kind).first()
        if found is None:
            raise NotFound("There is no such kind of channel.")
        return http.answer(request._request, schemas.shown(found))

    @extend_schema(
        operation_id="change_channel_kind",
        request=schemas.ChangeKind,
        responses={200: schemas.ChannelKind},
        examples=[sent("Keep less", {"retention": {"events": {"records": 1000}}}), answered("Changed", EXAMPLE)],
    )
    def patch(self, request: Request, kind: str) -> HttpResponse:
        """Changes what is given. `documents` replaces them all; those of a key that is left out are no longer shown."""
        caller(request).require("manage:channels", kind)
        body = parse.body(request._request, schemas.ChangeKind)
        changed = operations.change(caller(request), kind, schemas.settings_of(body))
        return http.answer(request._request, schemas.shown(changed))
