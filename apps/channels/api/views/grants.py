"""Grants: make, end one, end all of a subject."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.channels.api.schemas import grants as schemas
from apps.channels.models import ChannelGrant
from apps.channels.operations import grants as operations
from core import http, parse
from core.clock import rfc3339
from core.errors import NotFound
from core.notes import note
from core.openapi import answered, sent


class Grants(APIView):
    scopes = {"POST": "manage:channels"}

    @extend_schema(
        operation_id="make_grant",
        request=schemas.MakeGrant,
        responses={201: schemas.Grant},
        examples=[
            sent("For a page", {"channels": ["job:42"], "subject": "ana", "ttlSeconds": 900}),
            answered(
                "A grant",
                {
                    "id": "019ad0a6-6a4c-7c1e-b0f3-5d8a0c6f2b11",
                    "token": "tpg_…",
                    "expiresAt": "2026-11-29T12:15:00.000000Z",
                },
                status=201,
            ),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """Lets whoever has the token read these channels for a while. The token is shown once."""
        body = parse.body(request._request, schemas.MakeGrant)
        channels = schemas.checked_channels(body.channels)
        caller(request).require("manage:channels", *channels)
        grant, token = operations.make(caller(request), channels, body.subject, body.ttl_seconds)
        made = {"id": grant.id, "token": token, "expiresAt": rfc3339(grant.expires_at)}
        return http.answer(request._request, made, 201, {"Location": f"/v1/grants/{grant.id}"})


class OneGrant(APIView):
    scopes = {"DELETE": "manage:channels"}

    @extend_schema(operation_id="revoke_grant", responses={204: None})
    def delete(self, request: Request, grant: UUID) -> HttpResponse:
        """Revokes one grant: nothing is read with it from now on, and its live connections end within 5 s."""
        found = ChannelGrant.objects.filter(id=grant).first()
        if found is None:
            raise NotFound("There is no such grant.")
        caller(request).require("manage:channels", *found.channels.values_list("channel", flat=True))
        operations.revoke(caller(request), found)
        return http.no_content(request._request)


class RevokeSubject(APIView):
    scopes = {"POST": "manage:channels"}

    @extend_schema(
        operation_id="revoke_grants",
        request=schemas.Revoke,
        responses={200: schemas.Revoked},
        examples=[sent("Everything of ana", {"subject": "ana"}), answered("Revoked", {"revoked": 3})],
    )
    def post(self, request: Request) -> HttpResponse:
        """Revokes every grant of the subject issued before, for these channels or for all that the token may manage."""
        body = parse.body(request._request, schemas.Revoke)
        channels = schemas.checked_channels(body.channels) if body.channels else None
        caller(request).require("manage:channels", *(channels or ()))
        reaches = caller(request).names("manage:channels")
        reason = note(body.reason, "reason") or ""
        revoked = operations.revoke_subject(caller(request), body.subject, channels, reaches, reason)
        return http.answer(request._request, {"revoked": revoked})
