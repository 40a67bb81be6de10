"""Calls Django in a thread: environ in, status, headers and body out."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, reset_queries
from django.http import HttpRequest
from django.urls import ResolverMatch, get_resolver
from django.utils.log import log_response

from core import sql
from core.http import REQUEST_ID_KEY
from core.log import REQUEST_ID
from gateway.environ import Environ
from gateway.remembered import remembered

ROUTE_KEY = "towpath.route"
EAGER_BYTES = 1024 * 1024

HeaderList = list[tuple[bytes, bytes]]
# Sends (status, headers) first, then chunks; called in the thread, returns when the client has taken it.
Push = Callable[[int, HeaderList, bytes], None]


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: HeaderList
    body: bytes
    called_at: float
    """time.monotonic() when the view began: notices younger than this may be about work it did not see."""
    pushed: bool = False


class Django(WSGIHandler):
    """Django with a middleware list of its own; leaves the matched route in environ for metrics."""

    def __init__(self, middleware: Sequence[str]) -> None:
        full = settings.MIDDLEWARE
        # Django reads the list only here, at start, before any thread.
        settings.MIDDLEWARE = list(middleware)
        try:
            super().__init__()
        finally:
            settings.MIDDLEWARE = full
        # Loads every view now: the first requests would wait for it longer than any may wait for a thread.
        get_resolver().url_patterns  # noqa: B018

    def respond(self, environ: Environ) -> tuple[HttpRequest, Any]:
        """As Django's __call__, without its signals, script prefix and choice of URLs: these are always the same."""
        request = self.request_class(environ)
        response = self._middleware_chain(request)  # type: ignore[attr-defined]
        if response.status_code >= 400:
            log_response("%s: %s", response.reason_phrase, request.path, response=response, request=request)
        return request, response

    def resolve_request(self, request: HttpRequest) -> Any:
        match = request.resolver_match = _resolve(settings.ROOT_URLCONF, request.path_info)
        request.META[ROUTE_KEY] = match.route
        return match


@remembered(1024)
def _resolve(urls: str, path: str) -> ResolverMatch:
    """Finding one means trying fifty patterns. What is not found is not remembered."""
    return get_resolver(urls).resolve(path)


@lru_cache(maxsize=256)
def _header_name(name: str) -> bytes:
    return name.lower().encode("latin-1")


def tidy_by_hand() -> None:
    """Takes Django's tidying of connections off its signals, in this process: four walks over all databases in each request,
    an eighth of what a plain view costs. Each call looks after the one connection of its thread instead.
    """
    request_started.disconnect(reset_queries)
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)


def call(django: Django, environ: Environ, push: Push) -> Answer:
    token = REQUEST_ID.set(environ[REQUEST_ID_KEY])
    try:
        return _call(django, environ, push)
    finally:
        REQUEST_ID.reset(token)


def _call(django: Django, environ: Environ, push: Push) -> Answer:
    connection.close_if_unusable_or_obsolete()
    sql.drop_if_hung_up()
    called_at = time.monotonic()
    request, response = django.respond(environ)
    headers = [(_header_name(name), value.encode("latin-1")) for name, value in response.items()]
    headers += [(b"set-cookie", morsel.output(header="").encode("latin-1")) for morsel in response.cookies.values()]
    try:
        if not response.streaming:
            return Answer(response.status_code, headers, response.content, called_at)
        return _stream(response, headers, called_at, push)
    finally:
        request.close()
        if response.streaming:
            response.close()


def _stream(response: Any, headers: HeaderList, called_at: float, push: Push) -> Answer:
    """A short one (a static file) goes out whole; a long one from here, chunk by chunk, as the client takes it."""
    pending = bytearray()
    pushed = False
    for chunk in response:
        pending += chunk
        if len(pending) >= EAGER_BYTES:
            push(response.status_code, headers, bytes(pending))
            pending.clear()
            pushed = True
    return Answer(response.status_code, headers, bytes(pending), called_at, pushed)


def use_lock_timeout(milliseconds: int) -> None:
    """For the calling thread's database connection, set as it connects: no round trip, and no other thread's affair."""
    options = connection.settings_dict["OPTIONS"]
    text = f"{options.get('options', '')} -c lock_timeout={milliseconds}"
    connection.settings_dict = {**connection.settings_dict, "OPTIONS": {**options, "options": text}}
