"""The task that works for one destination: turn after turn, resting when there is nothing, never ended by an error."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from django.db import DatabaseError, InterfaceError

from apps.destinations.forward.line import Line
from core.errors import Unavailable

MAX_PAUSE_SECONDS = 15.0

logger = logging.getLogger(__name__)


async def nothing() -> None:
    """For turns that leave nothing behind."""


class Runner:
    """A turn returns the seconds after which to look again, 0 when there may be more. What is begun is finished."""

    def __init__(
        self, line: Line, turn: Callable[[Line], Awaitable[float]], finish: Callable[[], Awaitable[None]] = nothing
    ) -> None:
        self.line = line
        self.woken = asyncio.Event()
        self._stopping = False
        self._turn, self._finish = turn, finish
        self._failures = 0
        self.task = asyncio.create_task(self._run(), name=f"forward {line.name}")

    def stop(self) -> None:
        self._stopping = True
        self.woken.set()

    def hear(self, key: str) -> None:
        """What waits for its target does not care for new events. A webhook looks: its breaker may have closed just now."""
        if self.line.held in (None, "breaker_open") or not key.startswith("topic:"):
            self.woken.set()

    async def _run(self) -> None:
        while not self._stopping:
            self.woken.clear()
            pause = await self._take_turn()
            if pause > 0:
                await self._rest(pause)
        await self._finish()

    async def _take_turn(self) -> float:
        """Whatever goes wrong with one destination is tried again later, ever less often, and told once."""
        try:
            pause = await self._turn(self.line)
        except Exception as error:
            self._failures += 1
            if self._failures == 1:
                tell(self.line, error)
            await asyncio.sleep(min(0.2 * 2**self._failures, MAX_PAUSE_SECONDS) if not self._stopping else 0)
            return 0
        self._failures = 0
        return pause

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        except TimeoutError:
            pass


def tell(line: Line, error: Exception) -> None:
    """Without a traceback when it is only the database that cannot be had."""
    expected = isinstance(error, DatabaseError | InterfaceError | Unavailable)
    about = {"destination": line.name, "reason": str(error).split("\n")[0]}
    logger.warning("forward.failed", extra=about, exc_info=not expected)
