"""Every view names the scope of each of its methods; a view without one is refused (and a test fails)."""

from typing import TYPE_CHECKING

from core.errors import Forbidden, Unauthenticated

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView


class HasScope:
    def has_permission(self, request: "Request", view: "APIView") -> bool:
        scope = view.scopes.get(request.method)  # type: ignore[attr-defined]
        if scope is None:
            return True
        if request.auth is None:
            raise Unauthenticated()
        if not request.auth.has(scope):
            raise Forbidden(f"This needs the scope {scope}.", scope=scope)
        return True
