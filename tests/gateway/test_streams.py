"""A live stream lives on the event loop: it hears notices, reads on a thread, and ends with its client or the server."""

import asyncio
from collections.abc import Callable
from typing import Any

from tests.patience import PATIENCE, eventually
from tests.serving import Server

Add = Callable[..., None]
Lines = Callable[[Server, str], list[dict[str, Any]]]
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def open_stream(server: Server, path: str, request_id: str = "-") -> Connection:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: {request_id}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200") and b"text/event-stream" in head and b"x-request-id" in head
    return reader, writer


def test_a_stream_hears_notices_and_reads_on_a_thread(toy_server: Server, add: Add, key: str) -> None:
    async def scene() -> bytes:
        reader, writer = await open_stream(toy_server, f"/v1/live?key={key}")
        await reader.readuntil(b": joined\n\n")
        add(3)
        said = await asyncio.wait_for(reader.readuntil(b"data: 3\n\n"), PATIENCE)
        writer.close()
        return said

    assert b"data: 3" in asyncio.run(scene())


def test_a_stream_ends_when_its_client_goes(toy_server: Server, log_lines: Lines, key: str) -> None:
    """Each stream is one line in the access log, written when it ends."""

    async def scene() -> None:
        reader, writer = await open_stream(toy_server, f"/v1/live?key={key}", key)
        await reader.readuntil(b": joined\n\n")
        assert log_lines(toy_server, key) == []
        writer.close()
        await eventually(lambda: log_lines(toy_server, key))

    asyncio.run(scene())


def test_a_client_that_does_not_read_is_let_go(database_url: str, log_lines: Lines, key: str) -> None:
    with Server(database_url, "tests.gateway.settings", TOWPATH_SEND_SECONDS="0.5") as server:

        async def scene() -> None:
            _, writer = await open_stream(server, "/v1/flood", key)
            await eventually(lambda: log_lines(server, key))
            writer.close()

        asyncio.run(scene())
