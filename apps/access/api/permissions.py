"""Every view names the scope of each of its methods; a view without one answers 403 (and a test fails).

scopes = {"GET": "read:events", "POST": "manage:events"}; a tuple means any of them.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, cast

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
        _check_scope(request, view)
        taken = _taken_by(view, str(request.method))
        if not taken.query:
            parse.no_query(request._request)
        if not taken.body:
            parse.no_body(request._request)
        return True


def _check_scope(request: "Request", view: "APIView") -> None:
    method = "GET" if request.method == "HEAD" else request.method
    scope = getattr(view, "scopes", {}).get(method)
    if scope is None and (method == "OPTIONS" or method not in view.allowed_methods):
        return  # and DRF answers 405
    needed = (scope,) if isinstance(scope, str) else scope or ()
    if not request.auth.has(*needed):
        raise Forbidden(f"This needs the scope {' or '.join(needed)}.", scope=" ".join(needed))


class Taken(NamedTuple):
    """Whether a view reads the query and the body, and so checks them. Where it does not, nobody may think it did."""

    query: bool = True
    body: bool = True


_taken: dict[tuple[type, str], Taken] = {}


def _taken_by(view: "APIView", method: str) -> Taken:
    key = type(view), method
    if key not in _taken:
        handler = getattr(view, "get" if method == "HEAD" else method.lower(), None)
        described = getattr(handler, "kwargs", {}).get("schema")
        _taken[key] = Taken() if described is None else _as_described(described(), view, method)
    return _taken[key]


def _as_described(schema: Any, view: "APIView", method: str) -> Taken:
    """From the view's @extend_schema: what it does not describe, it does not take."""
    schema.view, schema.method = view, method
    parameters = schema.get_override_parameters()
    return Taken(
        query=any(getattr(parameter, "location", "query") == "query" for parameter in parameters),
        body=method not in ("POST", "PUT", "PATCH") or schema.get_request_serializer() is not None,
    )
