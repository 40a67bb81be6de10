"""Reads a request's body with the limits applied while reading: what is over them is not taken in."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from core.errors import Busy, Invalid, TooLarge
from core.metrics import REFUSED
from gateway.deadlines import Deadline
from gateway.environ import header

# Of a body that is not taken: times the limit, and at least so much, for many a client looks for an answer only when it has
# sent all. What is announced to be longer is cut off at once, and who stops sending after these seconds.
DISCARDED, DISCARDED_BYTES, DISCARDING_SECONDS = 4, 16 * 1024 * 1024, 60.0

Receive = Callable[[], Awaitable[dict[str, Any]]]


class ClientGone(Exception):
    """Nobody is there to answer."""


class Budget:
    """Bytes of bodies that requests hold until a thread has done with them; the first `free` of each do not count."""

    def __init__(self, most: int, free: int) -> None:
        self.most, self.free, self.held = most, free, 0

    def counted(self, size: int) -> int:
        return max(0, size - self.free)

    def check(self, more: int) -> None:
        """Raises Busy when so many more are too many."""
        if self.held + more > self.most:
            REFUSED.labels("bodies").inc()
            raise Busy("Too many large bodies are on their way at once; try again.")


class Body:
    __slots__ = ("_budget", "_counted", "_limit", "_receive", "_scope", "is_pending")

    def __init__(self, receive: Receive, scope: dict[str, Any], limit: int, budget: Budget) -> None:
        self._receive, self._scope, self._limit, self._budget = receive, scope, limit, budget
        self._counted = 0
        self.is_pending = False
        """Some of it may still come: the connection cannot be used again."""

    async def read(self, deadline: Deadline) -> bytes:
        """The whole body. Raises TooLarge, Busy, and Invalid when it did not come whole and in time."""
        announced = _announced(self._scope)
        if announced == 0:
            return b""
        self.is_pending = True
        try:
            with deadline:
                return await self._collect(announced)
        except TimeoutError:
            raise Invalid("The body did not come in time.") from None

    def release(self) -> None:
        """Nobody holds it any more."""
        self._budget.held -= self._counted
        self._counted = 0

    async def discard(self) -> None:
        """After the answer: what a client is still sending is let through to nowhere, for cut off it might not read it."""
        if not self.is_pending or header(self._scope["headers"], b"expect"):
            return
        most = max(DISCARDED * self._limit, DISCARDED_BYTES)
        if (_announced(self._scope) or 0) > most:
            return
        try:
            async with asyncio.timeout(DISCARDING_SECONDS):
                while self.is_pending and most > 0:
                    most -= len(await self._chunk())
        except (TimeoutError, Invalid):
            pass

    async def _collect(self, announced: int | None) -> bytes:
        self._check(announced or 0)
        chunks: list[bytes] = []
        size = 0
        while self.is_pending:
            chunk = await self._chunk()
            size += len(chunk)
            self._check(size)
            chunks.append(chunk)
            self._count(size)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _check(self, size: int) -> None:
        """What is announced, or has come by now."""
        if size > self._limit:
            raise TooLarge(f"The body is over the limit of {self._limit} bytes.", max=self._limit)
        self._budget.check(self._budget.counted(size) - self._counted)

    def _count(self, size: int) -> None:
        counted = self._budget.counted(size)
        self._budget.held += counted - self._counted
        self._counted = counted

    async def _chunk(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.is_pending = False
            # granian also says this of chunks that are not well-formed: then somebody is there to read the answer.
            raise Invalid("The body did not arrive whole.")
        self.is_pending = message.get("more_body", False)
        return message.get("body", b"")  # type: ignore[no-any-return]


def _announced(scope: dict[str, Any]) -> int | None:
    """Bytes the client says will come; None when it sends chunks. Without either header there is no body."""
    length: int | None = 0
    for name, value in scope["headers"]:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            length = int(value) if value.isdigit() and len(value) < 19 else None
    return length
