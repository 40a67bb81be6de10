"""Tokens, the audit trail, and the description of the API itself."""

from functools import lru_cache
from urllib.parse import urlencode

import orjson
from django.db import DataError
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from oauth2_provider.views.mixins import OAuthLibMixin
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access import selectors
from apps.access.api.filters import AuditFilter
from apps.access.api.permissions import caller
from apps.access.api.schemas import PAUSE, TOKEN_PROBLEM, TOKEN_REQUEST, AuditEntry, Token, audit_entry
from apps.access.scopes import ANY_MANAGE
from core import errors, pages, parse
from core.http import answer
from core.openapi import answered, filters_of, page_of, query_of

# RFC 6749, 5.2: the scheme that a client should have used; oauthlib names Bearer, which is not one for this call.
BASIC = {"WWW-Authenticate": 'Basic realm="towpath", charset="UTF-8"'}
DOCS_POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"


class PublicView(APIView):
    authentication_classes = ()
    permission_classes = ()


@lru_cache(maxsize=1)
def document() -> bytes:
    """The OpenAPI document: the same for everybody, and as long as the process lives."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return orjson.dumps(schema, default=str)


class OpenApiDocument(PublicView):
    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(document(), content_type="application/vnd.oai.openapi+json")


class Docs(PublicView):
    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        page = render(request, "access/docs.html")
        page.headers["Content-Security-Policy"] = DOCS_POLICY
        return page


class AuditTrail(APIView):
    """What operators changed, the latest first. Shown are the kinds and names that the token may manage."""

    scopes = {"GET": ANY_MANAGE}

    @extend_schema(
        operation_id="list_audit",
        parameters=query_of(pages.Page) + filters_of(AuditFilter),
        responses={200: page_of(AuditEntry)},
        examples=[answered("A pause", {"items": [PAUSE], "nextCursor": None})],
    )
    def get(self, request: Request) -> HttpResponse:
        rows = selectors.audit_for(caller(request))
        return answer(request._request, pages.listing(request._request, rows, "-id", audit_entry, AuditFilter))


class TokenView(OAuthLibMixin, PublicView):
    """Exchanges client credentials for an access token (RFC 6749, 4.4). Who asks for no scope is granted none."""

    @extend_schema(
        operation_id="make_token",
        request={"application/x-www-form-urlencoded": TOKEN_REQUEST},
        responses={200: Token, 400: TOKEN_PROBLEM, 401: TOKEN_PROBLEM},
        examples=[
            answered("A token", {"access_token": "…", "token_type": "Bearer", "expires_in": 3600, "scope": "read:events"})
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        # RFC 6749, 3.2: a parameter without a value is one that was left out.
        given = {name: value for name, value in parse.form(request._request).items() if value}
        request._request.POST = QueryDict(urlencode(given))
        if not request.META.get("HTTP_AUTHORIZATION", "").isascii():
            raise errors.Unauthenticated()  # base64 it is not, and the library would stumble over it
        _, headers, body, status = self.create_token_response(request._request)
        return HttpResponse(body, status=status, headers={**headers, **(BASIC if status == 401 else {})})

    def handle_exception(self, error: Exception) -> HttpResponse:  # type: ignore[override]
        """RFC 6749, 5.2: the one place with errors of another shape."""
        if isinstance(error, errors.Invalid | errors.UnsupportedMediaType | DataError):
            return JsonResponse({"error": "invalid_request", "error_description": "The form is not valid."}, status=400)
        if isinstance(error, errors.Unauthenticated):
            return JsonResponse({"error": "invalid_client"}, status=401, headers=BASIC)
        return super().handle_exception(error)
