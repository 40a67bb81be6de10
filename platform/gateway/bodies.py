"""Reads a request's body with the limit applied while reading: what is over it is not taken in."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from core.errors import Invalid, TooLarge

Receive = Callable[[], Awaitable[dict[str, Any]]]


class ClientGone(Exception):
    """Nobody is there to answer."""


async def read(receive: Receive, scope: dict[str, Any], limit: int, seconds: float) -> bytes:
    """The whole body. Raises TooLarge, Invalid when it did not come in time, ClientGone."""
    announced = _announced(scope)
    if announced == 0:
        return b""
    if announced is not None and announced > limit:
        raise TooLarge(f"The body is over the limit of {limit} bytes.", max=limit)
    try:
        async with asyncio.timeout(seconds):
            return await _collect(receive, limit)
    except TimeoutError:
        raise Invalid("The body did not come in time.") from None


async def _collect(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone()
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise TooLarge(f"The body is over the limit of {limit} bytes.", max=limit)
        chunks.append(chunk)
        more = message.get("more_body", False)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _announced(scope: dict[str, Any]) -> int | None:
    """Bytes the client says will come; None when it sends chunks. Without either header there is no body."""
    length: int | None = 0
    for name, value in scope["headers"]:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            length = int(value) if value.isdigit() and len(value) < 19 else None
    return length
