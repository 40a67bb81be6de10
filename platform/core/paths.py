"""Each percent-encoded character of a path belongs to its segment: what no name holds is refused before it is routed."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve

from core import errors
from core.http import error_response

# The path as it was sent, where the server tells it (the gateway, gunicorn; uwsgi and mod_wsgi). runserver does not.
SENT_KEY = "RAW_URI"
_SENT_KEYS = (SENT_KEY, "REQUEST_URI")
_SLASHES = re.compile("/|%2f", re.IGNORECASE)


def refuse_unnameable(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: 404 for a path that no thing can have; and U+0000 is kept from the database in the admin's queries."""

    def respond(request: HttpRequest) -> HttpResponse:
        sent = _sent(request.META)
        if "\x00" in request.path or (sent and not (_is_text(sent) and _parts_with_slashes(request, sent))):
            return error_response(request, errors.NotFound())
        if "%00" in request.META.get("QUERY_STRING", "") and not request.path.startswith("/v1/"):
            return error_response(request, errors.InvalidParameter("U+0000 is not allowed here."))
        return get_response(request)

    return respond


def _sent(meta: Mapping[str, Any]) -> str:
    sent: str = next((meta[key] for key in _SENT_KEYS if key in meta), "")
    return sent.partition("?")[0]


def _is_text(sent: str) -> bool:
    """Django would take bytes that are no UTF-8 for the text that encodes them: %FF for %25FF, which is another name."""
    try:
        unquote_to_bytes(sent.encode("latin-1", "replace")).decode()
    except UnicodeDecodeError:
        return False
    return True


def _parts_with_slashes(request: HttpRequest, sent: str) -> bool:
    """Whether its parts are parted by slashes only: an encoded one may stand at the end, where a route takes any text."""
    slashes = _SLASHES.findall(sent)
    if all(slash == "/" for slash in slashes):
        return True
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return True  # and so nothing is there
    last = list(match.kwargs.values())[-1] if match.kwargs and match.route.endswith(">") else None
    inside = last.count("/") if isinstance(last, str) else 0
    return all(slash == "/" for slash in slashes[: len(slashes) - inside])
