"""Threads in lanes: one that is full or blocked says BUSY in time, and holds up no other lane and never the event loop."""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from core.errors import Busy
from core.metrics import POOL_BUSY, POOL_QUEUE, REFUSED

Result = TypeVar("Result")

SWEEP_SECONDS = 0.1

logger = logging.getLogger(__name__)


class Job(Generic[Result]):
    __slots__ = ("_ticket", "expires", "future", "work")

    def __init__(self, work: Callable[[], Result], future: "asyncio.Future[Result]", expires: float) -> None:
        self.work = work
        self.future = future
        self.expires = expires
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
    """`threads` threads and a queue of at most `queue` jobs, each of which waits at most `seconds` for a thread."""

    def __init__(self, name: str, threads: int, queue: int, seconds: float, prepare: Callable[[], None]) -> None:
        self.name, self.threads, self.queue, self.seconds = name, threads, queue, seconds
        self._prepare = prepare
        self._jobs: SimpleQueue[Job[Any]] = SimpleQueue()
        self._unswept: deque[Job[Any]] = deque()
        self._sweeping = False
        self._held = 0
        # Woken waiters use at most half of the threads, or a batch for 1,000 of them would stand before everybody else.
        self.wakes = asyncio.Semaphore(max(1, threads // 2))
        # Likewise the reads for live streams: of a thousand channels all are read at once when the listener comes back.
        self.streams = asyncio.Semaphore(max(1, threads // 2))
        POOL_BUSY.labels(name).set_function(lambda: min(self._held, threads))
        POOL_QUEUE.labels(name).set_function(lambda: max(0, self._held - threads))

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        for number in range(self.threads):
            threading.Thread(target=self._serve, name=f"{self.name}-{number}", daemon=True).start()

    async def run(self, work: Callable[[], Result]) -> Result:
        """Raises Busy when the queue is full or no thread can be had in time."""
        if self._held >= self.threads + self.queue:
            self._refuse()
        job: Job[Result] = Job(work, self._loop.create_future(), time.monotonic() + self.seconds)
        self._held += 1
        self._unswept.append(job)
        self._jobs.put(job)
        if not self._sweeping:
            self._sweeping = True
            self._loop.call_later(SWEEP_SECONDS, self._sweep)
        return await job.future

    def _refuse(self) -> None:
        REFUSED.labels(f"{self.name}_full").inc()
        raise Busy("The server is busy; try again.")

    def _serve(self) -> None:
        self._prepare()
        while True:
            job = self._jobs.get()
            if job.take():
                self._do(job)

    def _do(self, job: Job[Any]) -> None:
        result, error = None, None
        try:
            result = job.work()
        except BaseException as raised:
            error = raised
        try:
            self._loop.call_soon_threadsafe(self._settle, job, result, error)
        except RuntimeError:  # the loop has closed: the process is ending
            logger.debug("lanes.late", extra={"lane": self.name})

    def _settle(self, job: Job[Any], result: Any, error: BaseException | None) -> None:
        self._held -= 1
        if job.future.done():
            return
        if error is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(error)

    def _sweep(self) -> None:
        """Gives up jobs that have waited too long. They are in order of age, so it looks only at the oldest."""
        now = time.monotonic()
        while self._unswept and (self._unswept[0].taken or self._unswept[0].expires <= now):
            job = self._unswept.popleft()
            if job.take():
                REFUSED.labels(f"{self.name}_late").inc()
                self._settle(job, None, Busy("No thread could be had in time; try again."))
        self._sweeping = bool(self._unswept)
        if self._sweeping:
            self._loop.call_later(SWEEP_SECONDS, self._sweep)
