"""One process of any number: a task a destination, a few threads for all, each turn one batch: none waits for long."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from apps.destinations.forward.line import Line, lines
from apps.destinations.forward.listen import listen
from apps.destinations.forward.transfer import transfer
from core import notices, sql
from core.errors import Unavailable

ROSTER_SECONDS = 5.0
STOP_SECONDS = 8.0
MAX_PAUSE_SECONDS = 15.0
ROSTER_KEY = "destinations"

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class Threads:
    """Work on the database, off the loop. Turns are taken in the order of asking: that is the fairness."""

    def __init__(self, number: int) -> None:
        self._pool = ThreadPoolExecutor(number, thread_name_prefix="forward")

    async def run(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._pool, _connected, work, *arguments)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def _connected(work: Callable[..., Answer], *arguments: Any) -> Answer:
    """A connection that was lost is left behind: the next piece of work makes a new one."""
    try:
        sql.ensure_alive()
        return work(*arguments)
    except (InterfaceError, DatabaseError):
        connection.close()
        raise


class Runner:
    """Works for one destination until it is told to stop; what it was doing then is finished."""

    def __init__(self, line: Line, threads: Threads) -> None:
        self.line = line
        self.woken = asyncio.Event()
        self.stopping = False
        self._threads = threads
        self._failures = 0
        self.task = asyncio.create_task(self._run(), name=f"forward {line.name}")

    def stop(self) -> None:
        self.stopping = True
        self.woken.set()

    def hear(self, key: str) -> None:
        """What is held does not care for new events, only for its target and its settings."""
        if self.line.held is None or not key.startswith("topic:"):
            self.woken.set()

    async def _run(self) -> None:
        while not self.stopping:
            self.woken.clear()
            pause = await self._turn()
            if pause > 0:
                await self._rest(pause)

    async def _turn(self) -> float:
        """Never raises: whatever goes wrong with one destination is tried again later, and told once."""
        try:
            pause = await self._threads.run(transfer, self.line)
        except Exception as error:
            self._failures += 1
            if self._failures == 1:
                _tell(self.line, error)
            await self._rest(min(0.2 * 2**self._failures, MAX_PAUSE_SECONDS), wakeable=False)
            return 0
        self._failures = 0
        return pause

    async def _rest(self, seconds: float, wakeable: bool = True) -> None:
        try:
            async with asyncio.timeout(seconds):
                await (self.woken.wait() if wakeable else asyncio.sleep(seconds + 1))
        except TimeoutError:
            pass


def _tell(line: Line, error: Exception) -> None:
    """Without a traceback when it is only the database that cannot be had."""
    expected = isinstance(error, DatabaseError | InterfaceError | Unavailable)
    about = {"destination": line.name, "reason": str(error).split("\n")[0]}
    logger.warning("forward.failed", extra=about, exc_info=not expected)


class Forwarder:
    def __init__(self, threads: int) -> None:
        self._threads = Threads(threads)
        self._runners: dict[int, Runner] = {}
        self._roster = asyncio.Event()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        self._stopping.set()
        self._roster.set()

    async def run(self) -> None:
        """Until `stop`; then what is in flight is finished, within a few seconds."""
        url = settings.GATEWAY["listen_url"]
        parameters = {"conninfo": url} if url else notices.connection_parameters(connection.get_connection_params())
        listener = asyncio.create_task(listen(parameters, self._hear, self._hear_again))
        try:
            while not self._stopping.is_set():
                self._roster.clear()
                await self._read_roster()
                await self._wait_for_roster()
        finally:
            listener.cancel()
            await self._finish()

    async def _wait_for_roster(self) -> None:
        try:
            async with asyncio.timeout(ROSTER_SECONDS):
                await self._roster.wait()
        except TimeoutError:
            pass

    async def _read_roster(self) -> None:
        try:
            found = {line.id: line for line in await self._threads.run(lines)}
        except (DatabaseError, InterfaceError) as error:
            logger.warning("forward.roster", extra={"reason": str(error).split("\n")[0]})
            return
        for number in self._runners.keys() - found.keys():
            self._runners.pop(number).stop()
        for number, line in found.items():
            if number in self._runners:
                self._runners[number].line = line
            else:
                self._runners[number] = Runner(line, self._threads)

    def _hear(self, key: str) -> None:
        is_target = key.startswith(("queue:", "channel:"))
        if key == ROSTER_KEY:
            self._roster.set()
        for runner in self._runners.values():
            line = runner.line
            if key in (f"topic:{line.topic_id}", f"consumer:{line.consumer_id}") or (is_target and line.held):
                runner.hear(key)

    def _hear_again(self) -> None:
        self._roster.set()
        for runner in self._runners.values():
            runner.woken.set()

    async def _finish(self) -> None:
        """What does not end in time is cut off: its leases run out, or its transaction is undone."""
        tasks = [runner.task for runner in self._runners.values()]
        for runner in self._runners.values():
            runner.stop()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=STOP_SECONDS)
            for task in late:
                task.cancel()
        self._threads.close()
