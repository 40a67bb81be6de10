"""Reads a request's body with the limit applied while reading: what is over it is not taken in."""

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from core.errors import Invalid, TooLarge
from gateway.deadlines import Deadline
from gateway.environ import header

# Of a body that is too large: times the limit, and at least so much, for a client sees no answer before it has sent.
DISCARDED, DISCARDED_BYTES = 4, 16 * 1024 * 1024

Receive = Callable[[], Awaitable[dict[str, Any]]]


class ClientGone(Exception):
    """Nobody is there to answer."""


async def read(receive: Receive, scope: dict[str, Any], limit: int, deadline: Deadline) -> bytes:
    """The whole body. Raises TooLarge, and Invalid when it did not come whole and in time."""
    announced = _announced(scope)
    if announced == 0:
        return b""
    try:
        with deadline:
            if announced is not None and announced > limit:
                await _refuse(receive, scope, announced, limit)
            return await _collect(receive, limit)
    except TimeoutError:
        raise Invalid("The body did not come in time.") from None


async def _refuse(receive: Receive, scope: dict[str, Any], announced: int, limit: int) -> NoReturn:
    """A client that is sending sees no answer before it has sent: a body not much too large is let through to nowhere."""
    expects = header(scope["headers"], b"expect") is not None
    if not expects and announced <= _discarded(limit):
        await _discard(receive, announced)
    raise _too_large(limit)


async def _collect(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    more = True
    while more:
        chunk, more = await _chunk(receive)
        size += len(chunk)
        if size > limit:
            if more:
                await _discard(receive, _discarded(limit) - size)
            raise _too_large(limit)
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


async def _discard(receive: Receive, most: int) -> None:
    more = True
    while more and most > 0:
        chunk, more = await _chunk(receive)
        most -= len(chunk)


async def _chunk(receive: Receive) -> tuple[bytes, bool]:
    message = await receive()
    if message["type"] == "http.disconnect":
        # granian also says this of chunks that are not well-formed: then somebody is there to read the answer.
        raise Invalid("The body did not arrive whole.")
    return message.get("body", b""), message.get("more_body", False)


def _discarded(limit: int) -> int:
    return max(DISCARDED * limit, DISCARDED_BYTES)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The body is over the limit of {limit} bytes.", max=limit)


def _announced(scope: dict[str, Any]) -> int | None:
    """Bytes the client says will come; None when it sends chunks. Without either header there is no body."""
    length: int | None = 0
    for name, value in scope["headers"]:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            length = int(value) if value.isdigit() and len(value) < 19 else None
    return length
