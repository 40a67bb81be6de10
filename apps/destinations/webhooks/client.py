"""One HTTP client a process, kept open: it connects only to addresses it has checked, and reads little of an answer."""

import asyncio
import logging
import ssl
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import httpcore
import httpx

from apps.destinations.webhooks.address import is_allowed

CONNECT_SECONDS = 5.0
BODY_SECONDS = 2.0
BODY_BYTES = 16_384
SHOWN_BYTES = 500
MAX_CONNECTIONS = 500
ADDRESSES_TRIED = 3
HEADERS = {"user-agent": "Towpath", "accept-encoding": "identity"}


# It would tell every URL at the level of what matters; attempts are recorded anyway.
logging.getLogger("httpx").setLevel(logging.WARNING)


class Blocked(Exception):
    """The name leads to no address that may be reached."""


class CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Looks the name up and connects to the very address it has checked: a second look-up could say something else.

    TLS still asks for the name: the certificate is checked against the URL.
    """

    def __init__(self) -> None:
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        failure: Exception = Blocked(f"{host} has no address that may be reached")
        for address in await self._addresses(host, port):
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def _addresses(self, host: str, port: int) -> list[str]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"{host} cannot be looked up: {error}") from None
        addresses = dict.fromkeys(str(each[4][0]) for each in found)
        return [address for address in addresses if is_allowed(address)][:ADDRESSES_TRIED]

    async def connect_unix_socket(self, *arguments: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        raise Blocked("no sockets of this machine")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


class _Transport(httpx.AsyncHTTPTransport):
    def __init__(self) -> None:
        super().__init__(trust_env=False)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=MAX_CONNECTIONS // 4,
            keepalive_expiry=30,
            network_backend=CheckedNetwork(),
        )


@dataclass
class Reply:
    """What came of one request: a status, or an error that says why there is none."""

    status: int | None = None
    error: str | None = None
    retry_after: str | None = None
    shown: str = ""
    """The first bytes of the body, as text."""
    milliseconds: int = 0


class Client:
    def __init__(self) -> None:
        self._client = httpx.AsyncClient(transport=_Transport(), follow_redirects=False, trust_env=False, headers=HEADERS)

    async def post(self, url: str, body: bytes, headers: dict[str, str], seconds: float) -> Reply:
        """Never raises: `seconds` is for all of it. A status that has come counts, whatever becomes of the body."""
        reply, began = Reply(), time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                await self._post(url, body, headers, seconds, reply)
        except TimeoutError:
            reply.error = f"no answer within {seconds:g} s"
        except (httpx.HTTPError, httpx.InvalidURL, httpcore.ConnectError, Blocked, OSError, ValueError) as error:
            reply.error = f"{type(error).__name__}: {error}"[:SHOWN_BYTES].rstrip(": ")
        if reply.status is not None:
            reply.error = None
        reply.milliseconds = round((time.monotonic() - began) * 1000)
        return reply

    async def _post(self, url: str, body: bytes, headers: dict[str, str], seconds: float, reply: Reply) -> None:
        limits = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        async with self._client.stream("POST", url, content=body, headers=headers, timeout=limits) as response:
            reply.status = response.status_code
            reply.retry_after = response.headers.get("retry-after")
            reply.shown = await _first_bytes(response)

    async def close(self) -> None:
        await self._client.aclose()


async def _first_bytes(response: httpx.Response) -> str:
    """Of a body without end, or one that trickles, a little: then the connection is closed."""
    read = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in response.aiter_raw(4_096):
                read += chunk
                if len(read) >= BODY_BYTES:
                    break
    except (TimeoutError, httpx.HTTPError):
        pass
    return read[:SHOWN_BYTES].decode(errors="replace").replace("\x00", "\ufffd")
