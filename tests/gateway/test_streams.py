"""A live stream lives on the event loop: it hears notices, reads on a thread, and ends with its client or the server."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from tests.gateway.test_waits import until
from tests.serving import Server

Add = Callable[..., None]
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def open_stream(server: Server, path: str) -> Connection:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200") and b"text/event-stream" in head and b"x-request-id" in head
    return reader, writer


def logged(server: Server, path: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in server.log().splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("path") == path]


def test_a_stream_hears_notices_and_reads_on_a_thread(toy_server: Server, add: Add, key: str) -> None:
    async def scene() -> bytes:
        reader, writer = await open_stream(toy_server, f"/v1/live?key={key}")
        await reader.readuntil(b": joined\n\n")
        add(3)
        said = await asyncio.wait_for(reader.readuntil(b"data: 3\n\n"), 5)
        writer.close()
        return said

    assert b"data: 3" in asyncio.run(scene())


def test_a_stream_ends_when_its_client_goes(toy_server: Server, key: str) -> None:
    """Each stream is one line in the access log, written when it ends."""
    before = len(logged(toy_server, "/v1/live"))

    async def scene() -> None:
        reader, writer = await open_stream(toy_server, f"/v1/live?key={key}")
        await reader.readuntil(b": joined\n\n")
        writer.close()
        await until(lambda: len(logged(toy_server, "/v1/live")) == before + 1, within=3)

    asyncio.run(scene())


def test_a_client_that_does_not_read_is_let_go(database_url: str) -> None:
    with Server(database_url, "tests.gateway.settings", TOWPATH_SEND_SECONDS="0.5") as server:

        async def scene() -> None:
            _, writer = await open_stream(server, "/v1/flood")
            await until(lambda: logged(server, "/v1/flood"), within=5)
            writer.close()

        asyncio.run(scene())
