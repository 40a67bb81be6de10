"""Raw connections to a live channel, and a second implementation of the six steps, written apart from the client's."""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

from django.db import connection

from tests.patience import PATIENCE
from tests.serving import Server


async def elsewhere(step: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """The step in a thread, whose own database connection is closed again."""

    def work() -> Any:
        try:
            return step(*arguments, **named)
        finally:
            connection.close()

    return await asyncio.to_thread(work)


class Ended(Exception):
    """The connection is over."""


class Live:
    """One Server-Sent Events connection: frames as the lines they were."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        self.reader, self.writer, self.head = reader, writer, head
        self._text = b""

    async def chunk(self) -> bytes:
        size = int(await self.reader.readline() or b"0", 16)
        chunk = await self.reader.readexactly(size + 2)
        if size == 0:
            raise Ended
        return chunk[:-2]

    async def frames(self) -> AsyncIterator[list[str]]:
        """Each frame's lines."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, Ended, ValueError):
            while True:
                while b"\n\n" in self._text:
                    frame, _, self._text = self._text.partition(b"\n\n")
                    yield frame.decode().split("\n")
                self._text += await self.chunk()

    async def said(self, count: int, within: float = PATIENCE) -> list[Any]:
        """The data of the next so many frames that are no comments."""
        found: list[Any] = []
        async with asyncio.timeout(within):
            async for lines in self.frames():
                found += [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
                if len(found) >= count:
                    break
        return found

    async def rest(self, within: float = PATIENCE) -> list[list[str]]:
        """Every frame until the connection ends."""
        async with asyncio.timeout(within):
            return [lines async for lines in self.frames()]

    def close(self) -> None:
        self.writer.close()


def ran(scene: Any, within: float = 4 * PATIENCE) -> Any:
    """Runs it, and closes what it left open."""

    async def whole() -> Any:
        try:
            return await asyncio.wait_for(scene, within)
        finally:
            for live in _opened:
                live.close()
            _opened.clear()
            await asyncio.sleep(0.01)

    return asyncio.run(whole())


_opened: list[Live] = []


async def connect(port: int, channel: str, token: str = "", query: str = "", **headers: str) -> Live:
    """Once the head of the answer is there."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
    lines = [f"GET /v1/streams/{channel}/live{query} HTTP/1.1", "Host: localhost"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except BaseException:
        writer.close()
        raise
    _opened.append(Live(reader, writer, head))
    return _opened[-1]


async def join(server: Server, channel: str, token: str = "", query: str = "", **headers: str) -> Live:
    """Once it has joined."""
    live = await connect(server.port, channel, token, query, **headers)
    assert live.head.startswith(b"HTTP/1.1 200"), live.head
    assert await live.chunk() == b": joined\n\n"
    return live


async def get(port: int, path: str, token: str) -> tuple[int, Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode()
        )
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body)
    finally:
        writer.close()


class SecondFollower:
    """The procedure of the document in Python: subscribe, snapshot, apply what follows, close gaps, start over when told.

    `state` is the document with every event's change applied by hand; `applied` every sequence that changed it.
    """

    def __init__(self, port: int, channel: str, token: str) -> None:
        self.port, self.channel, self.token = port, channel, token
        self.cursor = -1
        self.state: dict[str, Any] = {}
        self.applied: list[int] = []
        self.seen: set[str] = set()
        self.held: dict[int, Any] = {}
        self.resyncs = 0

    async def follow(self, until: int) -> None:
        while self.cursor < until:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError, ValueError, IndexError):
                await self._once(until)
            await asyncio.sleep(random.uniform(0.01, 0.1))

    async def _once(self, until: int) -> None:
        live = await connect(self.port, self.channel, self.token)
        try:
            frames = live.frames()
            assert await asyncio.wait_for(anext(frames), 5) == [": joined"]
            await (self._replay() if self.cursor >= 0 else self._load())
            while self.cursor < until:
                lines = await asyncio.wait_for(anext(frames), 3)
                for line in lines:
                    if line.startswith("data: "):
                        await self._take(json.loads(line[6:]))
        except StopAsyncIteration:
            return
        finally:
            live.close()

    async def _take(self, said: dict[str, Any]) -> None:
        if said["type"] == "resync.required":
            self.resyncs += 1
            await self._load()
        elif said["type"] == "beyond-cdn-pointer/1":
            if said["sequence"] > self.cursor:
                await self._replay()
        elif said["sequence"] == self.cursor + 1:
            self._apply(said)
        elif said["sequence"] > self.cursor:
            self.held[said["sequence"]] = said
            await self._replay()
        for sequence in sorted(self.held):
            self._apply(self.held.pop(sequence))

    def _apply(self, event: dict[str, Any]) -> None:
        if event["sequence"] != self.cursor + 1 or event["id"] in self.seen:
            return
        self.seen.add(event["id"])
        self.cursor = event["sequence"]
        self.applied.append(event["sequence"])
        change(self.state, event["data"])

    async def _replay(self) -> None:
        more = True
        while more:
            status, page = await get(self.port, f"/v1/streams/{self.channel}/events?after={self.cursor}", self.token)
            if status == 410:
                return await self._load()
            if status != 200:
                raise OSError(status)
            for event in page["events"]:
                self._apply(event)
            more = page["more"]

    async def _load(self) -> None:
        status, snapshot = await get(self.port, f"/v1/streams/{self.channel}/snapshot", self.token)
        if status != 200:
            raise OSError(status)
        self.cursor = snapshot["sequence"]
        self.state = snapshot["data"]["job"] or {}


def change(state: dict[str, Any], data: dict[str, Any]) -> None:
    """What an event's data says of the job: sums and the last, so that one applied twice or left out shows."""
    state["total"] = state.get("total", 0) + data["n"]
    state["last"] = data["n"]
    state["count"] = state.get("count", 0) + 1
