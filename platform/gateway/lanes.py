"""Threads in lanes: one that is full or blocked says BUSY in time, and holds up no other lane and never the event loop."""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from core.errors import Busy
from core.metrics import POOL_BUSY, POOL_QUEUE, REFUSED
from gateway.bodies import ClientGone

Result = TypeVar("Result")
# Gives what is done when the client has gone.
Leaving = Callable[[], "asyncio.Future[None]"]

SWEEP_SECONDS = 0.1

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Line:
    """In which jobs stand for a thread: at most `most` beside those at work, each for at most `seconds`."""

    most: int
    seconds: float
    held: int = 0
    unswept: "deque[Job[Any]]" = field(default_factory=deque)


class Job(Generic[Result]):
    __slots__ = ("_ticket", "expires", "future", "line", "work")

    def __init__(self, work: Callable[[], Result], future: "asyncio.Future[Result]", line: Line) -> None:
        self.work = work
        self.future = future
        self.line = line
        self.expires = time.monotonic() + line.seconds
        self._ticket = [None]

    def take(self) -> bool:
        """True for one caller only: the thread that will do it, or the sweep that gives it up (list.pop is atomic)."""
        try:
            self._ticket.pop()
        except IndexError:
            return False
        return True

    @property
    def taken(self) -> bool:
        return not self._ticket


class Lane:
    """`threads` threads, for both lines in the order of coming. Who joins a live stream stands in the patient one."""

    def __init__(self, name: str, threads: int, line: Line, patient: Line, prepare: Callable[[], None]) -> None:
        self.name, self.threads, self.line, self.patient = name, threads, line, patient
        self._prepare = prepare
        self._jobs: SimpleQueue[Job[Any]] = SimpleQueue()
        self._sweeping = False
        # Woken waiters use at most half of the threads, or a batch for 1,000 of them would stand before everybody else.
        self.wakes = asyncio.Semaphore(max(1, threads // 2))
        # Likewise the reads for live streams: of a thousand channels all are read at once when the listener comes back.
        self.streams = asyncio.Semaphore(max(1, threads // 2))
        POOL_BUSY.labels(name).set_function(lambda: min(self.held, threads))
        POOL_QUEUE.labels(name).set_function(lambda: max(0, self.held - threads))

    @property
    def held(self) -> int:
        return self.line.held + self.patient.held

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        for number in range(self.threads):
            threading.Thread(target=self._serve, name=f"{self.name}-{number}", daemon=True).start()

    async def run(self, work: Callable[[], Result], patient: bool = False, leaving: Leaving | None = None) -> Result:
        """Raises Busy when the line is full or no thread can be had in time, and ClientGone, with nothing done, if the
        client left before.
        """
        line = self.patient if patient else self.line
        if line.held >= self.threads + line.most:
            self._refuse()
        job: Job[Result] = Job(work, self._loop.create_future(), line)
        line.held += 1
        line.unswept.append(job)
        self._jobs.put(job)
        if not self._sweeping:
            self._sweeping = True
            self._loop.call_later(SWEEP_SECONDS, self._sweep)
        if leaving is None or self.held <= self.threads:
            return await job.future
        return await self._outcome(job, leaving())

    async def _outcome(self, job: Job[Result], gone: "asyncio.Future[None]") -> Result:
        leave = lambda _: self._give_up(job, ClientGone())  # noqa: E731
        gone.add_done_callback(leave)
        try:
            return await job.future
        finally:
            gone.remove_done_callback(leave)

    def _refuse(self) -> None:
        REFUSED.labels(f"{self.name}_full").inc()
        raise Busy("The server is busy; try again.")

    def _give_up(self, job: Job[Any], error: Exception) -> bool:
        """Does nothing about a job that a thread has."""
        if not job.take():
            return False
        del job.work  # it holds a body, and no thread may look at it for long
        self._settle(job, None, error)
        return True

    def _serve(self) -> None:
        self._prepare()
        while True:
            job = self._jobs.get()
            if job.take():
                self._do(job)

    def _do(self, job: Job[Any]) -> None:
        result, error = None, None
        work = job.work
        del job.work  # the lines know of the job for some time yet
        try:
            result = work()
        except BaseException as raised:
            error = raised
        try:
            self._loop.call_soon_threadsafe(self._settle, job, result, error)
        except RuntimeError:  # the loop has closed: the process is ending
            logger.debug("lanes.late", extra={"lane": self.name})

    def _settle(self, job: Job[Any], result: Any, error: BaseException | None) -> None:
        job.line.held -= 1
        if job.future.done():
            return
        if error is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(error)

    def _sweep(self) -> None:
        """Gives up jobs that have waited too long. Each line is in order of age, so it looks only at the oldest."""
        now = time.monotonic()
        for line in (self.line, self.patient):
            while line.unswept and (line.unswept[0].taken or line.unswept[0].expires <= now):
                if self._give_up(line.unswept.popleft(), Busy("No thread could be had in time; try again.")):
                    REFUSED.labels(f"{self.name}_late").inc()
        self._sweeping = bool(self.line.unswept or self.patient.unswept)
        if self._sweeping:
            self._loop.call_later(SWEEP_SECONDS, self._sweep)
