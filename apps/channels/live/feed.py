"""One channel in one process: read once for each notice, whoever many follow it, and offered to all of them."""

import asyncio
import logging
import random
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError, InterfaceError

from apps.channels.live.frames import Frame, event_frame, pointer
from apps.channels.names import notice_key
from apps.channels.selectors.reading import Page, read
from core.errors import DomainError
from core.metrics import LIVE_READS
from core.streams import Backstage
from core.waits import listening

if TYPE_CHECKING:
    from apps.channels.live.follower import Follower

DEAF_POLL_SECONDS = 1.0
RETRY_SECONDS = 0.5
MAX_RETRY_SECONDS = 3.0
PAGE_EVENTS = 200
PAGE_BYTES = 1024 * 1024
SLICE = 50
MAX_BACKLOG = 1_000  # events that this process may be behind before it says so instead of telling them all

logger = logging.getLogger(__name__)


class Feed:
    """`position` was read before the subscription: what came between the two is told by the first read."""

    def __init__(self, channel: str, position: int, backstage: Backstage) -> None:
        self.channel, self.position = channel, position
        self.followers: set[Follower] = set()
        self._failures = 0
        self._backstage = backstage
        self._subscription = backstage.subscribe(notice_key(channel))
        self._task = asyncio.ensure_future(self._run())

    def close(self) -> None:
        self._subscription.close()
        self._task.cancel()

    async def _run(self) -> None:
        while True:
            if await self._tell_new():
                self._failures = 0
                await self._subscription.next(self._poll_seconds())
            else:
                self._failures += 1
                await asyncio.sleep(min(MAX_RETRY_SECONDS, RETRY_SECONDS * self._failures) * random.uniform(0.8, 1.2))

    def _poll_seconds(self) -> float:
        if listening.alive is False:
            return DEAF_POLL_SECONDS
        return float(settings.GATEWAY["poll_seconds"]) * random.uniform(0.8, 1.2)

    async def _tell_new(self) -> bool:
        """Reads until there is nothing new. False when the database cannot be asked now: nothing is lost by asking later.

        The log tells once of each outage.
        """
        try:
            while await self._tell_page():
                pass
        except (DatabaseError, InterfaceError, DomainError) as error:
            if not self._failures:
                logger.info("live.delayed", extra={"channel": self.channel, "reason": str(error).split("\n")[0]})
            return False
        except Exception:
            logger.exception("live.failed", extra={"channel": self.channel})
            return False
        return True

    async def _tell_page(self) -> bool:
        """True while more is to be read."""
        page = await self._read()
        if page.misses(self.position):
            self._lose(page)
        elif page.last - self.position > MAX_BACKLOG:
            await self._point(page.last)
        else:
            await self._tell([event_frame(event, self.channel) for event in page.events])
            self.position = page.cursor(self.position)
        return self.position < page.last

    async def _read(self) -> Page:
        LIVE_READS.inc()
        largest: int = settings.TOWPATH["MAX_LIVE_EVENT_BYTES"]
        page, _ = await self._backstage.call(read, self.channel, self.position, PAGE_EVENTS, None, largest, PAGE_BYTES)
        return page

    async def _tell(self, new: list[Frame]) -> None:
        """In slices: requests that arrive meanwhile are served between them, not behind thousands of readers."""
        if not new:
            return
        for number, follower in enumerate(tuple(self.followers)):
            if number % SLICE == SLICE - 1:
                await asyncio.sleep(0)
            follower.hear(new)

    def _lose(self, page: Page) -> None:
        """Deleted, or expired before it was read here."""
        for follower in self.followers:
            follower.resync()
        self.position = min(page.last, page.oldest - 1)

    async def _point(self, last: int) -> None:
        await self._tell([Frame(last, pointer(self.channel, last))])
        self.position = last
