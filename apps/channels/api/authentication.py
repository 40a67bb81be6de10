"""Grants as bearer tokens, for the views of a channel's followers only; everywhere else a `tpg_` token is unknown."""

from typing import TYPE_CHECKING, ClassVar
from urllib.parse import parse_qsl
from uuid import UUID

from apps.access.api.authentication import BearerAuthentication
from apps.access.credentials import GRANT_MARK
from apps.access.scopes import Grant, Principal
from apps.channels import tokens

if TYPE_CHECKING:
    from rest_framework.request import Request

KIND = "grant"
# Which channels it opens is decided by the statement that reads them, with the database's word on revocation.
READS = (Grant("read:channels"),)


class FollowerAuthentication(BearerAuthentication):
    def principal_of(self, token: str, request: "Request") -> Principal | None:
        if not token.startswith(GRANT_MARK):
            return super().principal_of(token, request)
        grant = tokens.read(token)
        return None if grant is None else Principal(KIND, grant, str(grant), READS)


class LiveAuthentication(FollowerAuthentication):
    """A browser's EventSource can send no header: here, and nowhere else, a grant may stand in the URL."""

    parameter: ClassVar[str] = "grant"

    def authenticate(self, request: "Request") -> tuple[Principal, Principal]:
        if "HTTP_AUTHORIZATION" not in request.META:
            given = dict(parse_qsl(request.META.get("QUERY_STRING", ""))).get(self.parameter, "")
            if given.startswith(GRANT_MARK):
                request.META["HTTP_AUTHORIZATION"] = f"Bearer {given}"
        return super().authenticate(request)


def token_of(request: "Request") -> str:
    """What the caller showed, once it has been accepted."""
    token: str = request.META["HTTP_AUTHORIZATION"].split()[-1]
    return token


def grant_of(principal: Principal) -> UUID | None:
    return principal.id if principal.kind == KIND else None
