"""Every view names the scope of each of its methods; a view without one answers 403 (and a test fails).

scopes = {"GET": "read:events", "POST": "manage:events"}; a tuple means any of them.
"""

from typing import TYPE_CHECKING, Any, cast

from apps.access.scopes import Principal
from core import parse
from core.errors import Forbidden

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView


def caller(request: "Request") -> Principal:
    """request.auth, typed: for what takes a Principal."""
    return cast(Principal, request.auth)


class HasScope:
    def has_permission(self, request: "Request", view: "APIView") -> bool:
        self._check_scope(request, view)
        if request.META.get("QUERY_STRING") and not takes_query(view, str(request.method)):
            parse.no_query(request._request)
        return True

    def _check_scope(self, request: "Request", view: "APIView") -> None:
        method = "GET" if request.method == "HEAD" else request.method
        scope = getattr(view, "scopes", {}).get(method)
        if scope is None and (method == "OPTIONS" or method not in view.allowed_methods):
            return  # and DRF answers 405
        needed = (scope,) if isinstance(scope, str) else scope or ()
        if not request.auth.has(*needed):
            raise Forbidden(f"This needs the scope {' or '.join(needed)}.", scope=" ".join(needed))


_takes_query: dict[tuple[type, str], bool] = {}


def takes_query(view: "APIView", method: str) -> bool:
    """Whether the view's @extend_schema names query parameters for the method: then it reads and checks them itself.

    A view that names none never looks, and would take a misspelt one for a call that did what was asked.
    """
    key = type(view), method
    if key not in _takes_query:
        handler = getattr(view, "get" if method == "HEAD" else method.lower(), None)
        described = getattr(handler, "kwargs", {}).get("schema")
        _takes_query[key] = described is None or _names_query(described(), view, method)
    return _takes_query[key]


def _names_query(described: Any, view: "APIView", method: str) -> bool:
    described.view, described.method = view, method
    return any(getattr(parameter, "location", "query") == "query" for parameter in described.get_override_parameters())
