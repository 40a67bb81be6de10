"""Live streams on the event loop: bounded sends, and an end when the client goes, the server stops or the stream returns."""

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import close_old_connections

from core import sql, streams
from core.streams import Stream
from gateway.hub import Hub
from gateway.lanes import Lane

if TYPE_CHECKING:
    from gateway.exchange import Exchange

Result = TypeVar("Result")


class Subscription:
    def __init__(self, hub: Hub, keys: tuple[str, ...]) -> None:
        self._hub, self._keys = hub, keys
        self._counts: Counter[str] = Counter()
        self._lost = False
        self._something = asyncio.Event()
        hub.subscribe(self, keys)

    def hear(self, key: str, count: int) -> None:
        self._counts[key] += count
        self._something.set()

    def lose(self) -> None:
        self._lost = True
        self._something.set()

    async def next(self, seconds: float) -> dict[str, int] | None:
        try:
            async with asyncio.timeout(seconds):
                await self._something.wait()
        except TimeoutError:
            return None
        self._something.clear()
        counts, self._counts = self._counts, Counter()
        lost, self._lost = self._lost, False
        return {} if lost else dict(counts)

    def close(self) -> None:
        self._hub.unsubscribe(self, self._keys)


class Backstage:
    def __init__(self, lane: Lane, hub: Hub) -> None:
        self._lane, self._hub = lane, hub

    async def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        async with self._lane.streams:
            return await self._lane.run(partial(_with_connection, function, *arguments), patient=True)

    def subscribe(self, *keys: str) -> Subscription:
        return Subscription(self._hub, keys)


class Link(Backstage):
    def __init__(self, exchange: "Exchange", hub: Hub) -> None:
        super().__init__(exchange.lane, hub)
        self.backstage: streams.Backstage = Backstage(exchange.lane, hub)
        self._exchange = exchange
        self._subscriptions: list[Subscription] = []
        self._loop = asyncio.get_running_loop()
        self._sending_since: float | None = None

    async def send(self, chunk: bytes) -> None:
        self._sending_since = self._loop.time()
        await self._exchange.pass_on(chunk)
        self._sending_since = None

    async def refused(self) -> None:
        """Returns when the client has not taken a chunk in time. Looks now and then: a timer a chunk costs as much as it."""
        limit = self._exchange.gateway.limits.send_seconds
        while True:
            begun = self._sending_since
            left = limit if begun is None else begun + limit - self._loop.time()
            if left <= 0:
                return
            await asyncio.sleep(left)

    def subscribe(self, *keys: str) -> Subscription:
        subscription = super().subscribe(*keys)
        self._subscriptions.append(subscription)
        return subscription

    def close(self) -> None:
        for subscription in self._subscriptions:
            subscription.close()


async def run(stream: Stream, link: Link, exchange: "Exchange", stopping: "asyncio.Event") -> None:
    """Runs the stream beside receive(): granian's send() to a client that has gone raises nothing, and waits for ever for
    one that takes nothing.
    """
    ends: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(stream.run(link)),
        exchange.leaving(),
        asyncio.ensure_future(stopping.wait()),
        asyncio.ensure_future(link.refused()),
    ]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        link.close()
        for end in ends:
            end.cancel()
        outcome, *_ = await asyncio.gather(*ends, return_exceptions=True)
    if isinstance(outcome, Exception):
        raise outcome


def _with_connection(function: Callable[..., Result], *arguments: Any) -> Result:
    close_old_connections()
    sql.drop_if_hung_up()
    return function(*arguments)
