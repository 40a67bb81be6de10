"""A link that breaks: a TCP proxy which cuts connections at random, some of them without a word (half-open)."""

import asyncio
import contextlib
import random


class RoughLink:
    def __init__(self, port: int, chance: random.Random, life: tuple[float, float]) -> None:
        self._target, self._chance, self._life = port, chance, life
        self._tasks: set[asyncio.Task[None]] = set()
        self.cuts = 0

    async def __aenter__(self) -> "RoughLink":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def mend(self) -> None:
        """From now on connections live."""
        self._life = (3600, 3600)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with contextlib.suppress(OSError, asyncio.CancelledError), contextlib.closing(writer):
            await self._carry(reader, writer)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target)
        ways = [
            asyncio.ensure_future(_pump(reader, there_writer)),
            asyncio.ensure_future(_pump(there_reader, writer)),
        ]
        try:
            _, alive = await asyncio.wait(
                ways, timeout=self._chance.uniform(*self._life), return_when=asyncio.FIRST_COMPLETED
            )
            if len(alive) == 2:
                self.cuts += 1
                for way in ways:
                    way.cancel()
                if self._chance.random() < 0.3:
                    await asyncio.sleep(6)  # nobody says that it is over
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            writer.close()
            there_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
