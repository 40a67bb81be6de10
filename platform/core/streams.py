"""What a view leaves in environ when its answer goes on: the gateway sends the view's status and headers, then runs this.

Without the gateway (runserver, plain WSGI) the view's own answer simply goes out.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from django.http import HttpRequest

ENVIRON_KEY = "towpath.stream"

Result = TypeVar("Result")


class Subscription(Protocol):
    async def next(self, seconds: float) -> dict[str, int] | None:
        """Counts by key since the last call, as soon as there are any; None after `seconds` without one.

        An empty dict means: notices may have been lost (the listener was away), look for yourself.
        """

    def close(self) -> None: ...


class Backstage(Protocol):
    """What streams of one process may share: it outlives the client through which it was had."""

    async def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Runs a selector on a thread, with its database connection. Raises core.errors.Busy when none is free in time."""

    def subscribe(self, *keys: str) -> Subscription:
        """From now on; what comes under these keys is kept until asked for. Whoever subscribes here closes it."""


class Link(Backstage, Protocol):
    """One client of a live stream, seen from the event loop. Its subscriptions are closed with it."""

    backstage: Backstage

    async def send(self, chunk: bytes) -> None:
        """The stream is cancelled when the client has not taken it in time."""


@dataclass(frozen=True)
class Stream:
    run: Callable[[Link], Awaitable[None]]
    """Runs until it returns, the client goes, or the server stops; then it is cancelled."""


def stream_from(request: HttpRequest, stream: Stream) -> None:
    request.META[ENVIRON_KEY] = stream
