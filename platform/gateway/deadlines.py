"""Long limits for many short things: asyncio.timeout, but that one timer serves all, up to a tenth of a second late.

Each request has two, which almost never come; a timer of the loop's own for each was a twentieth of what a request cost.
"""

import asyncio
import time
from types import TracebackType

SWEEP_SECONDS = 0.1


class Deadline:
    """`with` it around what may take until then: raises TimeoutError there. Only on the event loop."""

    __slots__ = ("_all", "_cancelling", "_task", "expired", "until")

    def __init__(self, together: "Deadlines", seconds: float) -> None:
        self._all = together
        self.until = time.monotonic() + seconds
        self.expired = False

    def __enter__(self) -> "Deadline":
        task = asyncio.current_task()
        assert task is not None
        self._task, self._cancelling = task, task.cancelling()
        self._all.add(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._all.discard(self)
        if self.expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def lift(self) -> None:
        """From here on there is no limit."""
        self.until = float("inf")

    def expire(self) -> None:
        self.expired = True
        self._task.cancel()


class Deadlines:
    def __init__(self) -> None:
        self._open: set[Deadline] = set()
        self._sweeping = False

    def within(self, seconds: float) -> Deadline:
        return Deadline(self, seconds)

    def add(self, deadline: Deadline) -> None:
        self._open.add(deadline)
        if not self._sweeping:
            self._sweeping = True
            asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)

    def discard(self, deadline: Deadline) -> None:
        self._open.discard(deadline)

    def _sweep(self) -> None:
        now = time.monotonic()
        for deadline in [each for each in self._open if each.until <= now]:
            self._open.discard(deadline)
            deadline.expire()
        self._sweeping = bool(self._open)
        if self._sweeping:
            asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)
