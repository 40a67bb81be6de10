"""One process of any number: a task a destination, a few threads for all, each turn one batch: none waits for long."""

import asyncio
import logging

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from apps.destinations.forward.line import Line, lines
from apps.destinations.forward.listen import listen
from apps.destinations.forward.push import Pushing
from apps.destinations.forward.runner import Runner
from apps.destinations.forward.threads import Threads
from apps.destinations.forward.transfer import transfer
from apps.destinations.models import Type
from apps.destinations.webhooks.client import Client
from core import notices

ROSTER_SECONDS = 5.0
STOP_SECONDS = 8.0
ROSTER_KEY = "destinations"

logger = logging.getLogger(__name__)


class Forwarder:
    def __init__(self, threads: int) -> None:
        self._threads = Threads(threads)
        self._client = Client()
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
                self._runners[number] = self._runner(line)

    def _runner(self, line: Line) -> Runner:
        if line.type == Type.WEBHOOK:
            pushing = Pushing(self._threads, self._client, self._stopping.is_set)
            return Runner(line, pushing.turn, pushing.finish)
        return Runner(line, lambda known: self._threads.run(transfer, known))

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
        await self._client.close()
        self._threads.close()
