"""Builders of the things tests need, by the same operations that clients reach."""

import itertools
import json
from typing import Any

from django.test import Client

from apps.access import operations
from apps.access.scopes import SCOPES, Grant

_numbers = itertools.count(1)


def unique(word: str) -> str:
    """A name nobody else has in this run."""
    return f"{word}-{next(_numbers)}"


def grants(*scopes: str) -> list[Grant]:
    """`read:events`, or narrowed: `read:events orders.* billing/*`."""
    return [Grant(scope, tuple(patterns)) for scope, *patterns in map(str.split, scopes or SCOPES)]


def api_key(*scopes: str) -> str:
    """A new API key; with every scope when none is named."""
    return operations.create_api_key(unique("key"), grants(*scopes))[1]


class Api(Client):
    """Django's test client with a bearer token, which speaks JSON: `api.post("/v1/topics", {"name": "orders"}).json()`.

    A body given as bytes or str goes as it is. Unlike its parent it answers 500 instead of raising, as a server would.
    """

    def __init__(self, token: str | None = None) -> None:
        super().__init__(raise_request_exception=False)
        self.token = token

    def generic(self, method: str, path: str, data: Any = b"", content_type: str = "application/json", **extra: Any) -> Any:
        """Every method of the client ends here."""
        headers = {name.lower(): value for name, value in (extra.pop("headers", None) or {}).items()}
        if self.token is not None:
            headers.setdefault("authorization", f"Bearer {self.token}")
        return super().generic(method, path, data, content_type, headers=headers, **extra)

    def send(self, method: str, path: str, body: Any = None, **extra: Any) -> Any:
        raw = b"" if body is None else body if isinstance(body, bytes | str) else json.dumps(body)
        return self.generic(method, path, raw, **extra)

    def post(self, path: str, body: Any = None, **extra: Any) -> Any:
        return self.send("POST", path, body, **extra)

    def put(self, path: str, body: Any = None, **extra: Any) -> Any:
        return self.send("PUT", path, body, **extra)

    def patch(self, path: str, body: Any = None, **extra: Any) -> Any:
        return self.send("PATCH", path, body, **extra)

    def delete(self, path: str, body: Any = None, **extra: Any) -> Any:
        return self.send("DELETE", path, body, **extra)
