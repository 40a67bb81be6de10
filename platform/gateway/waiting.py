"""A request that waits: sleep without a thread, call the same view again when there may be work, answer at the deadline."""

import asyncio
import time
from typing import TYPE_CHECKING

from core.errors import Busy
from core.waits import AGAIN_KEY, ENVIRON_KEY, MORE_KEY, Wait
from gateway.bodies import ClientGone
from gateway.dispatch import Answer
from gateway.hub import Hub, Woken, count_wake

if TYPE_CHECKING:
    from gateway.exchange import Exchange

PATIENCE = 3  # fruitless calls before pauses between them begin
MAX_PAUSE_SECONDS = 0.2


class Waiting:
    def __init__(self, hub: Hub, exchange: "Exchange", wait: Wait, answer: Answer) -> None:
        self._hub, self._exchange, self._wait, self._answer = hub, exchange, wait, answer
        self._deadline = exchange.began + wait.seconds
        self._fruitless = 0

    async def outcome(self) -> Answer:
        """The view's answer once it has one, else its last empty one. Raises ClientGone."""
        gone = self._exchange.leaving()
        slept_from = time.monotonic()
        try:
            while time.monotonic() < self._deadline and await self._again(gone):
                pass
            return self._answer
        finally:
            self._exchange.waited = time.monotonic() - slept_from

    async def _again(self, gone: "asyncio.Future[None]") -> bool:
        """Sleeps and calls the view once more. True while there is still nothing to answer."""
        reason = await self._hub.sleep(self._wait, self._answer.called_at, self._deadline, gone, first=self._fruitless > 0)
        count_wake(reason)
        if reason is Woken.STOPPING:
            return False
        answer = await self._call(gone, reason)
        if answer is None:
            return False
        self._answer = answer
        wait: Wait | None = self._exchange.environ.pop(ENVIRON_KEY, None)
        self._share(reason, answer, wait)
        if wait is None:
            return False
        self._wait = wait
        await self._pause()
        return True

    async def _call(self, gone: "asyncio.Future[None]", reason: Woken) -> Answer | None:
        """None when no thread can be had before the deadline: then the empty answer goes out."""
        async with self._exchange.lane.wakes:
            while True:
                if gone.done():
                    # Nothing is called, so nothing is taken, for a client known to be gone.
                    if reason is not Woken.GONE:
                        self._hub.pass_on(self._wait)
                    raise ClientGone()
                try:
                    self._exchange.environ[AGAIN_KEY] = True
                    self._exchange.rewind()
                    return await self._exchange.call()
                except ClientGone:
                    self._hub.pass_on(self._wait)
                    raise
                except Busy:
                    if time.monotonic() > self._deadline:
                        return None
                    await asyncio.sleep(0.1)

    def _share(self, reason: Woken, answer: Answer, wait: Wait | None) -> None:
        """Notices are counted out; what fell due is not, so whoever finds something, or fails, sends the next to look."""
        more = self._exchange.environ.pop(MORE_KEY, False)
        if wait is None and (more or reason is Woken.DUE or answer.status >= 400):
            self._hub.pass_on(self._wait)

    async def _pause(self) -> None:
        """A busy key whose events this waiter never wants must not make it a busy loop; notices meanwhile are remembered."""
        self._fruitless += 1
        if self._fruitless > PATIENCE:
            await asyncio.sleep(min(MAX_PAUSE_SECONDS, 0.01 * (self._fruitless - PATIENCE)))
