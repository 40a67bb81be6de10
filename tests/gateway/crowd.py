"""Many clients on one event loop: raw requests on sockets of their own; and what the server says of them."""

import asyncio
import json
import time
from dataclasses import dataclass

from tests.serving import Server

LONG = 120
"""Seconds a client is ready to wait for what must come at once."""
SOON = 60
"""Seconds within which that came: neither the deadline nor a poll brought it, however slow the machine."""


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


async def begin(server: Server, request: str) -> asyncio.StreamWriter:
    """Asks, and leaves it to the caller to go away without waiting for the answer."""
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"{request} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    await writer.drain()
    return writer


def asleep(server: Server, key: str) -> int:
    """How many wait for this key without a thread."""
    return int(server.get(f"/v1/slow/asleep?key={key}").content)  # type: ignore[attr-defined]


def figure(server: Server, line: str, lane: str = "slow") -> float:
    """Asked through a lane that is free."""
    return server.figure(line, f"/v1/{lane}/metrics")


def listening(server: Server) -> bool:
    lines = [json.loads(line) for line in server.log().splitlines() if line.startswith("{")]
    states = [line["event"] for line in lines if line.get("event") in ("listener.up", "listener.lost")]
    return bool(states) and states[-1] == "listener.up"
