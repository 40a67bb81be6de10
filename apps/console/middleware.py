"""What is true of every page under /admin/: its security policy, the administrator's time zone, errors a human can read."""

from collections.abc import Callable
from zoneinfo import ZoneInfo, available_timezones

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, DataError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from core.errors import DomainError
from core.http import as_domain_error, status_of

PREFIX = "/admin/"
ZONE_COOKIE = "towpath_zone"

# unsafe-eval: Alpine, which unfold is built on, evaluates its attributes. unsafe-inline styles: unfold's colours and
# Alpine's x-show. Scripts are files of our own only; nothing is loaded from anywhere else.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
_ZONES = available_timezones()


class ConsoleMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(PREFIX):
            return self.get_response(request)
        with timezone.override(_zone(request)):
            response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not request.path.startswith(PREFIX):
            return None
        match error:
            case PermissionDenied():
                return _page(request, 403, "Your role does not allow this.")
            case Http404():
                return _page(request, 404, "There is no such thing. It may have been deleted meanwhile.")
            case DataError():  # Django's lists take lookups such as name__regex from the address, unchecked
                return _page(request, 400, "The address asks for something that cannot be looked for.")
            case DomainError() | DatabaseError() | InterfaceError() if known := as_domain_error(error):
                return _page(request, status_of(known), known.message)
        return None


def _zone(request: HttpRequest) -> ZoneInfo | None:
    """The browser's zone, which console.js tells by a cookie; None (the installation's zone) until it did."""
    name = request.COOKIES.get(ZONE_COOKIE, "")
    return ZoneInfo(name) if name in _ZONES else None


def _page(request: HttpRequest, status: int, text: str) -> HttpResponse:
    return render(request, "console/error.html", {"status": status, "text": text}, status=status)
