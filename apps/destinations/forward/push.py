"""To a webhook: leases like any worker's, requests side by side on the event loop, the outcome of each settled by itself."""

import asyncio
import os
import time
from collections.abc import Callable

from apps.destinations.forward.line import Line
from apps.destinations.forward.runner import tell
from apps.destinations.forward.settle import Sent, settle
from apps.destinations.forward.threads import Threads
from apps.destinations.forward.work import Work, next_work
from apps.destinations.webhooks.client import Client
from apps.destinations.webhooks.message import Message
from apps.destinations.webhooks.signing import signed


class Pushing:
    """For one destination in one process: how many requests are out, and how fast."""

    def __init__(self, threads: Threads, client: Client, is_stopping: Callable[[], bool]) -> None:
        self._threads, self._client, self._is_stopping = threads, client, is_stopping
        # A worker that asks again gets the lease it holds: so each request in flight is a worker of its own.
        self._run = os.urandom(4).hex()
        self._free = [0]
        self._made = 1
        self._room = asyncio.Event()
        self._deliveries: set[asyncio.Task[None]] = set()
        self._next_at = 0.0

    async def turn(self, line: Line) -> float:
        worker = await self._worker(line)
        if self._is_stopping():
            return 0
        try:
            work = await self._threads.run(next_work, line, f"forwarder {self._run}/{worker}")
        except BaseException:
            self._free.append(worker)
            raise
        if not isinstance(work, Work):
            self._free.append(worker)
            return work
        delivery = asyncio.create_task(self._deliver(line, work, worker))
        self._deliveries.add(delivery)
        delivery.add_done_callback(self._deliveries.discard)
        return 0

    async def finish(self) -> None:
        if self._deliveries:
            await asyncio.wait(self._deliveries)

    async def _worker(self, line: Line) -> int:
        """One that has nothing out; waits while as many requests are out as the destination allows."""
        while not self._free:
            if self._made < line.target["concurrency"]:
                self._made += 1
                return self._made - 1
            self._room.clear()
            await self._room.wait()
        return self._free.pop()

    async def _deliver(self, line: Line, work: Work, worker: int) -> None:
        """Requests of one lease go one after the other. If settling fails the lease runs out, and they go again."""
        try:
            sent = [await self._send(line, work, message, offsets) for message, offsets in work.messages]
            await self._threads.run(settle, line, work, sent)
        except Exception as error:
            tell(line, error)
        finally:
            self._free.append(worker)
            self._room.set()

    async def _send(self, line: Line, work: Work, message: Message, offsets: list[int]) -> Sent:
        await self._pace(line.target["rate"])
        target = line.target
        headers = {"content-type": message.content_type, **signed(message.webhook_id, message.body, work.secrets)}
        reply = await self._client.post(target["url"], message.body.encode(), headers, target["timeoutSeconds"])
        return Sent(message, offsets, reply)

    async def _pace(self, rate: int | None) -> None:
        """Requests at equal distances."""
        if rate is None:
            return
        begin = max(time.monotonic(), self._next_at)
        self._next_at = begin + 1 / rate
        await asyncio.sleep(begin - time.monotonic())
