"""Bearer tokens of every kind through one class: API keys, OAuth access tokens, and by a subclass the grants of channels."""

import re
from typing import TYPE_CHECKING

from apps.access import credentials
from apps.access.scopes import Principal
from core.errors import Unauthenticated
from core.log import PRINCIPAL_KEY

if TYPE_CHECKING:
    from rest_framework.request import Request

_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/=-]{1,512})", re.IGNORECASE | re.ASCII)


class BearerAuthentication:
    def authenticate(self, request: "Request") -> tuple[Principal, Principal]:
        """The Principal as request.user and request.auth. Raises Unauthenticated; a token in the URL is never looked at."""
        match = _BEARER.fullmatch(request.META.get("HTTP_AUTHORIZATION", ""))
        principal = self.principal_of(match[1], request) if match else None
        if principal is None:
            raise Unauthenticated()
        request.META[PRINCIPAL_KEY] = f"{principal.kind}:{principal.name}"
        return principal, principal

    def principal_of(self, token: str, request: "Request") -> Principal | None:
        """The seam for views that also take a `tpg_` token (channels): they override this, and ask here for the others."""
        return None if token.startswith(credentials.GRANT_MARK) else credentials.principal_of(token)

    def authenticate_header(self, request: "Request") -> str:
        return 'Bearer realm="towpath"'
