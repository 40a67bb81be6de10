"""Who waits for which notice. Everything here runs on the event loop; a sleeper holds no thread and no connection.

Waiters with the same group and keys compete for the same work: a notice of n things wakes the n that came first. What falls
due, and the slow poll, wake one; if it finds work, the next.
"""

import asyncio
import random
import time
from collections import OrderedDict
from enum import Enum
from typing import Protocol

from core.metrics import WAITERS, WAKES
from core.waits import Wait

REMEMBERED_KEYS = 10_000
DEAF_POLL_SECONDS = 1.0


class Woken(Enum):
    NOTICE = "notice"
    DUE = "due"
    DEADLINE = "deadline"
    GONE = "gone"
    STOPPING = "stopping"


class Ear(Protocol):
    def hear(self, key: str, count: int) -> None: ...
    def lose(self) -> None: ...


class Group:
    """Waiters of one group, the longest waiting first."""

    def __init__(self, hub: "Hub", name: object, keys: tuple[str, ...]) -> None:
        self.hub, self.name, self.keys = hub, name, keys
        self.waiters: OrderedDict[asyncio.Future[Woken], None] = OrderedDict()
        self._due = float("inf")
        self._timer: asyncio.TimerHandle | None = None

    def enter(self, waiter: "asyncio.Future[Woken]", due_in: float | None, first: bool) -> None:
        self.waiters[waiter] = None
        if first:
            self.waiters.move_to_end(waiter, last=False)
        if due_in is not None:
            # A millisecond late is one call; a hair early would be two.
            self._due = min(self._due, time.monotonic() + due_in + 0.001)
        self.schedule()

    def wake(self, count: int, reason: Woken) -> None:
        while count > 0 and self.waiters:
            waiter, _ = self.waiters.popitem(last=False)
            if not waiter.done():
                waiter.set_result(reason)
                count -= 1

    def schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        delay = min(self._due - time.monotonic(), self.hub.poll_seconds * random.uniform(0.8, 1.2))
        self._timer = asyncio.get_running_loop().call_later(max(0.0, delay), self._fall_due)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _fall_due(self) -> None:
        self._due = float("inf")
        self.wake(1, Woken.DUE)
        if self.waiters:
            self.schedule()


class Hub:
    def __init__(self, poll_seconds: float) -> None:
        self._healthy_poll_seconds = poll_seconds
        self.poll_seconds = DEAF_POLL_SECONDS
        self._groups: dict[object, Group] = {}
        self._by_key: dict[str, set[Group]] = {}
        self._ears: dict[str, set[Ear]] = {}
        self._noticed: OrderedDict[str, float] = OrderedDict()
        # Anything older than this may have been noticed without being remembered.
        self._forgotten_until = 0.0
        self._stopping = False
        WAITERS.set_function(lambda: len(self))

    def __len__(self) -> int:
        return sum(len(group.waiters) for group in list(self._groups.values()))

    async def sleep(self, wait: Wait, since: float, until: float, gone: "asyncio.Future[None]", first: bool) -> Woken:
        """Sleeps until a notice (at once if one came after `since`), something due, the deadline, or the client's leaving.

        `first` puts the waiter before the others of its group: it was woken and found nothing.
        """
        if self._stopping:
            return Woken.STOPPING
        if self.noticed_since(wait.keys, since):
            return Woken.NOTICE
        waiter: asyncio.Future[Woken] = asyncio.get_running_loop().create_future()
        group = self._join(wait, waiter, first)
        timer = asyncio.get_running_loop().call_later(max(0.0, until - time.monotonic()), _settle, waiter, Woken.DEADLINE)
        leave = lambda _: _settle(waiter, Woken.GONE)  # noqa: E731
        gone.add_done_callback(leave)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.pass_on(wait)
            raise
        finally:
            timer.cancel()
            gone.remove_done_callback(leave)
            self._leave(group, waiter)

    def noticed_since(self, keys: tuple[str, ...], since: float) -> bool:
        return self._forgotten_until > since or any(self._noticed.get(key, 0.0) > since for key in keys)

    def notify(self, key: str, count: int) -> None:
        self._noticed.pop(key, None)
        self._noticed[key] = time.monotonic()
        if len(self._noticed) > REMEMBERED_KEYS:
            _, moment = self._noticed.popitem(last=False)
            self._forgotten_until = max(self._forgotten_until, moment)
        for group in self._by_key.get(key, ()):
            group.wake(max(1, count), Woken.NOTICE)
        for ear in self._ears.get(key, ()):
            ear.hear(key, count)

    def subscribe(self, ear: Ear, keys: tuple[str, ...]) -> None:
        for key in keys:
            self._ears.setdefault(key, set()).add(ear)

    def unsubscribe(self, ear: Ear, keys: tuple[str, ...]) -> None:
        for key in keys:
            self._ears.get(key, set()).discard(ear)
            if not self._ears.get(key):
                self._ears.pop(key, None)

    def pass_on(self, wait: Wait) -> None:
        """The one that was woken could not use it, or left some: wakes the next of its group."""
        if wait.group and (group := self._groups.get((wait.group, wait.keys))):
            group.wake(1, Woken.DUE)

    def hear_again(self) -> None:
        """The listener is back: notices may have been lost, so somebody of each group looks."""
        self._forgotten_until = time.monotonic()
        self.poll_seconds = self._healthy_poll_seconds
        self._look()
        for ear in {ear for ears in self._ears.values() for ear in ears}:
            ear.lose()

    def hear_nothing(self) -> None:
        """The listener is away: everyone polls faster until it is back."""
        self.poll_seconds = DEAF_POLL_SECONDS
        self._look()

    def _look(self) -> None:
        for group in self._groups.values():
            group.wake(1, Woken.DUE)
            group.schedule()

    def stop(self) -> None:
        self._stopping = True
        for group in self._groups.values():
            group.wake(len(group.waiters), Woken.STOPPING)

    def _join(self, wait: Wait, waiter: "asyncio.Future[Woken]", first: bool) -> Group:
        name: object = (wait.group, wait.keys) if wait.group else waiter
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = Group(self, name, wait.keys)
            for key in wait.keys:
                self._by_key.setdefault(key, set()).add(group)
        group.enter(waiter, wait.due_in, first)
        return group

    def _leave(self, group: Group, waiter: "asyncio.Future[Woken]") -> None:
        group.waiters.pop(waiter, None)
        if not group.waiters and self._groups.get(group.name) is group:
            group.stop_timer()
            del self._groups[group.name]
            for key in group.keys:
                self._by_key[key].discard(group)
                if not self._by_key[key]:
                    del self._by_key[key]


def _settle(waiter: "asyncio.Future[Woken]", reason: Woken) -> None:
    if not waiter.done():
        waiter.set_result(reason)


def count_wake(reason: Woken) -> None:
    WAKES.labels(reason.value).inc()
