"""The way to a view of the API: what Django's middleware and REST framework do there, without what they do for pages."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.exception import response_for_exception
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.security import SecurityMiddleware
from rest_framework.request import Request
from rest_framework.views import APIView

MAX_HOSTS = 1_000

Respond = Callable[[HttpRequest], HttpResponseBase]


class ApiDoor:
    """Middleware: the redirect to TLS, the security headers and the check of Host, as Django's own two do them.

    A Host that was found good is not taken apart again.
    """

    def __init__(self, get_response: Respond) -> None:
        self._get_response = get_response
        self._security = SecurityMiddleware(get_response)
        self._hosts: set[str] = set()
        self._allowed = settings.ALLOWED_HOSTS

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._security.process_response(request, self._respond(request))  # type: ignore[arg-type]

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        try:
            if redirect := self._security.process_request(request):
                return redirect
            self._check_host(request)
        except DisallowedHost as error:
            return response_for_exception(request, error)
        return self._get_response(request)

    def _check_host(self, request: HttpRequest) -> None:
        if settings.ALLOWED_HOSTS is not self._allowed or len(self._hosts) > MAX_HOSTS:
            self._hosts, self._allowed = set(), settings.ALLOWED_HOSTS
        host = request.META.get("HTTP_HOST")
        if host is None or settings.USE_X_FORWARDED_HOST:
            request.get_host()
        elif host not in self._hosts:
            request.get_host()
            self._hosts.add(host)


class HotView(APIView):
    """A view of one of the short, frequent calls: authentication, permission, the method, and nothing to negotiate.

    Half of what REST framework does between the URL and the method finds out again what is settled for the whole API: that
    it has one renderer, no parsers, no versions and no throttles.
    """

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        return Request(request)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        (authentication,) = self.authentication_classes
        request.user, request.auth = authentication().authenticate(request)  # type: ignore[misc]
        self.check_permissions(request)

    @property
    def default_response_headers(self) -> dict[str, str]:
        return {}

    def finalize_response(self, request: Request, response: HttpResponse, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        if response.status_code == 405:
            response["Allow"] = ", ".join(self.allowed_methods)
        return response
