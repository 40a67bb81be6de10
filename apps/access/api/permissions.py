"""Every view names the scope of each of its methods; a view without one answers 403 (and a test fails).

scopes = {"GET": "read:events", "POST": "manage:events"}; a tuple means any of them.
"""

from typing import TYPE_CHECKING, cast

from apps.access.scopes import Principal
from core.errors import Forbidden

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView


def caller(request: "Request") -> Principal:
    """request.auth, typed: for what takes a Principal."""
    return cast(Principal, request.auth)


class HasScope:
    def has_permission(self, request: "Request", view: "APIView") -> bool:
        method = "GET" if request.method == "HEAD" else request.method
        scope = getattr(view, "scopes", {}).get(method)
        if scope is None and (method == "OPTIONS" or method not in view.allowed_methods):
            return True  # and DRF answers 405
        needed = (scope,) if isinstance(scope, str) else scope or ()
        if not request.auth.has(*needed):
            raise Forbidden(f"This needs the scope {' or '.join(needed)}.", scope=" ".join(needed))
        return True
