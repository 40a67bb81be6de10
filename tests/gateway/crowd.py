"""Many clients on one event loop: raw requests on sockets of their own."""

import asyncio
import time
from dataclasses import dataclass

from tests.serving import Server


@dataclass
class Reply:
    status: int
    body: bytes
    at: float


async def ask(server: Server, request: str, headers: str = "") -> Reply:
    """`POST /path`; the status is 0 when the server closed without an answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(f"{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n".encode())
        answer = await reader.read()
    finally:
        writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return Reply(int(head.split(b" ")[1]) if head else 0, body, time.monotonic())


async def leave(server: Server, request: str, after: float) -> None:
    """Asks, and goes away without waiting for the answer."""
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"{request} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    await writer.drain()
    await asyncio.sleep(after)
    writer.close()
