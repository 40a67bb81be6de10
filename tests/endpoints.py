"""Every endpoint of the API, from the URLconf: tests that go through all of them cover new ones by themselves."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import URLResolver, get_resolver
from rest_framework.views import APIView

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
SOME_ID = UUID("019ac2f0-9d2c-7c1e-8f0a-5b1e2d3c4b5a")


@dataclass(frozen=True)
class Endpoint:
    method: str
    route: str
    view: Any

    @property
    def path(self) -> str:
        """With a name or an id that does not exist."""
        return self.path_named("no-such")

    def path_named(self, name: str) -> str:
        values = {"number": "0", "uuid": str(SOME_ID), "str": name, "path": name, "rest": name}
        return re.sub(r"<(?:(\w+):)?\w+>", lambda match: values[match[1] or "str"], self.route)

    @property
    def template(self) -> str:
        """As in the OpenAPI document, but for the words in the braces."""
        return re.sub(r"<[^>]*>", "{}", self.route)

    @property
    def is_public(self) -> bool:
        return not self.view.permission_classes

    @property
    def has_body(self) -> bool:
        return self.method in ("POST", "PUT", "PATCH")

    def __str__(self) -> str:
        return f"{self.method} {self.template}"


def routes(resolver: URLResolver | None = None, prefix: str = "/") -> Iterator[tuple[str, Any]]:
    for found in (resolver or get_resolver()).url_patterns:
        route = prefix + str(found.pattern)
        if isinstance(found, URLResolver):
            yield from routes(found, route)
        else:
            yield route, getattr(found.callback, "cls", found.callback)


def endpoints() -> list[Endpoint]:
    """All of the API views."""
    return [
        Endpoint(method, route, view)
        for route, view in routes()
        if isinstance(view, type) and issubclass(view, APIView)
        for method in METHODS
        if hasattr(view, method.lower())
    ]
