"""The HTTP front: an ASGI application that runs Django on threads and lets requests wait on the event loop."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from core import log
from core.errors import Busy
from core.metrics import REFUSED, STREAMS
from core.streams import Stream
from core.waits import Wait, listening
from gateway import streaming
from gateway.bodies import Budget, Receive
from gateway.deadlines import Deadlines
from gateway.dispatch import Answer, Django, tidy_by_hand, use_lock_timeout
from gateway.exchange import Exchange, Send
from gateway.hub import Hub
from gateway.lanes import Lane, Line
from gateway.limits import Limits
from gateway.listener import Listener
from gateway.waiting import Waiting

LAST_WORD_SECONDS = 1.0

logger = logging.getLogger(__name__)


class Gateway:
    """`middleware` serves pages, `short_middleware` the paths named in settings.GATEWAY, which need no session."""

    def __init__(
        self, limits: Limits, middleware: Sequence[str], short_middleware: Sequence[str], readable_log: bool
    ) -> None:
        self.limits = limits
        self._full, self._short = Django(middleware), Django(short_middleware)
        self.access = log.access_logger(readable_log)
        self.stopping = asyncio.Event()
        self.hub = Hub(limits.poll_seconds)
        self.deadlines = Deadlines()
        self._waiters = self._streams = self._open = 0
        STREAMS.set_function(lambda: self._streams)
        self.budget = Budget(limits.held_body_bytes, limits.kept_body_bytes)
        self._hot = self._lane("hot", limits.hot_threads, partial(use_lock_timeout, limits.hot_lock_timeout_ms))
        self._slow = self._lane("slow", limits.slow_threads, _prepare_nothing)

    def _lane(self, name: str, threads: int, prepare: Callable[[], None]) -> Lane:
        limits = self.limits
        line = Line(limits.lane_queue, limits.lane_seconds)
        return Lane(name, threads, line, Line(limits.max_streams, limits.join_seconds), prepare)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._live(receive, send)
        if scope["type"] != "http":
            return
        self._open += 1
        try:
            # The loop cancels at the end of the process only; granian would report each such request as a fault.
            with contextlib.suppress(asyncio.CancelledError):
                await Exchange(self, scope, receive, send).run()
        finally:
            self._open -= 1

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self.start()
        logger.info(
            "gateway.started", extra={"hot_threads": self.limits.hot_threads, "slow_threads": self.limits.slow_threads}
        )
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.stop()
        await send({"type": "lifespan.shutdown.complete"})

    def start(self) -> None:
        tidy_by_hand()
        self._hot.start()
        self._slow.start()
        listening.alive = False
        self._listener = asyncio.ensure_future(Listener(self.hub, self.limits.listen_url, self.limits.proof_seconds).run())

    async def stop(self) -> None:
        """Waits answer their empty answer now, streams end, requests in flight finish, all within the bound."""
        self.stopping.set()
        self.hub.stop()
        until = time.monotonic() + self.limits.stop_seconds
        while self._open and time.monotonic() < until:
            await asyncio.sleep(0.02)
        self._listener.cancel()

    def lane(self, call_name: str) -> Lane:
        return self._hot if self.limits.is_hot(call_name) else self._slow

    def django(self, path: str) -> Django:
        return self._short if path.startswith(self.limits.short_paths) else self._full

    async def wait(self, exchange: Exchange, wait: Wait, answer: Answer) -> Answer:
        if self._waiters >= self.limits.max_waiters:
            REFUSED.labels("waiters").inc()
            raise Busy("Too many requests are waiting; try again.")
        self._waiters += 1
        try:
            return await Waiting(self.hub, exchange, wait, answer).outcome()
        finally:
            self._waiters -= 1

    def check_streams(self, joining: int) -> None:
        """Raises Busy when there are too many, with those that stand in line to be one."""
        if self._streams + joining >= self.limits.max_streams:
            REFUSED.labels("streams").inc()
            raise Busy("Too many live streams are open; try again.")

    async def stream(self, exchange: Exchange, stream: Stream, answer: Answer) -> None:
        self.check_streams(0)
        self._streams += 1
        try:
            await exchange.begin(answer.status, [pair for pair in answer.headers if pair[0] != b"content-length"])
            await streaming.run(stream, streaming.Link(exchange, self.hub), exchange, self.stopping)
            # Who takes nothing any more is not waited for: its connection is closed as it is.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORD_SECONDS):
                    await exchange.send_chunk(b"", more=False)
        finally:
            self._streams -= 1


def _prepare_nothing() -> None:
    return None
