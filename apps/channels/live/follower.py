"""One live connection: joined, what it missed, then what comes; a comment every 15 s; an end when its credential ends."""

import asyncio
import re
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError

from apps.channels.live import frames
from apps.channels.live.hall import hall
from apps.channels.live.outbox import Outbox
from apps.channels.selectors.reading import Page, read
from core.errors import Busy
from core.streams import Link

COMMENT_SECONDS = 15.0
MAX_MISSED = 1_000
CATCH_UP_EVENTS = 100
CATCH_UP_BYTES = 512 * 1024
RETRY_SECONDS = 1.0
_SEQUENCE = re.compile(r"[0-9]{1,18}", re.ASCII)


class Follower:
    def __init__(
        self, channel: str, credential: UUID | str, position: int, seconds: float | None, last_event_id: str = ""
    ) -> None:
        """`credential`: a grant's id, or the token; `position` of the channel; `seconds` until the grant expires."""
        self.channel, self.credential, self.position = channel, credential, position
        self._seconds, self._last_event_id = seconds, last_event_id
        self._outbox = Outbox(channel)
        self._waiting: asyncio.Future[None] | None = None
        self._comment_is_due = False
        self._told_to = 0
        self._task: asyncio.Task[None] | None = None

    async def run(self, link: Link) -> None:
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        expiry = None if self._seconds is None else loop.call_later(self._seconds, self.end)
        # Heard from here on, so what is committed after `: joined` is told.
        hall.enter(self, link.backstage)
        try:
            await link.send(frames.JOINED)
            if self._last_event_id:
                await self._catch_up(link)
            await self._pass_on(link)
        finally:
            hall.leave(self)
            if expiry is not None:
                expiry.cancel()

    def hear(self, new: list[frames.Frame]) -> None:
        if new and new[0].sequence <= self._told_to:
            new = [frame for frame in new if frame.sequence > self._told_to]
        if new:
            self._outbox.put(new)
            self._wake()

    def resync(self) -> None:
        self._outbox.resync()
        self._wake()

    def end(self) -> None:
        """At once, also while the client does not take what is being sent."""
        if self._task is not None:
            self._task.cancel()

    async def _pass_on(self, link: Link) -> None:
        """A timer a comment, none an event: with thousands of readers the latter would be half of the work."""
        loop = asyncio.get_running_loop()
        timer = loop.call_later(COMMENT_SECONDS, self._fall_due)
        try:
            while True:
                if self._comment_is_due:
                    self._comment_is_due = False
                    timer = loop.call_later(COMMENT_SECONDS, self._fall_due)
                    await link.send(frames.COMMENT)
                elif chunk := self._outbox.take():
                    await link.send(chunk)
                else:
                    self._waiting = loop.create_future()
                    await self._waiting
        finally:
            timer.cancel()

    def _fall_due(self) -> None:
        self._comment_is_due = True
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def _catch_up(self, link: Link) -> None:
        """What came after Last-Event-ID, up to where the feed goes on: nothing is lost or doubled at that seam."""
        if not _SEQUENCE.fullmatch(self._last_event_id):
            return self.resync()
        after = int(self._last_event_id)
        page = await self._read(link, after)
        if page.misses(after) or page.last - after > MAX_MISSED:
            return self.resync()
        while page.events:
            after = page.events[-1].sequence
            await link.send(b"".join(frames.event_frame(event, self.channel).text for event in page.events))
            page = await self._read(link, after)
        self._skip_to(after)

    async def _read(self, link: Link, after: int) -> Page:
        """Asks until the database answers: who is sent away meanwhile comes back to a 503, which ends an EventSource."""
        largest: int = settings.TOWPATH["MAX_LIVE_EVENT_BYTES"]
        while True:
            try:
                page, _ = await link.call(read, self.channel, after, CATCH_UP_EVENTS, None, largest, CATCH_UP_BYTES)
                return page
            except (DatabaseError, InterfaceError, Busy):
                await link.send(frames.COMMENT)
                await asyncio.sleep(RETRY_SECONDS)

    def _skip_to(self, sequence: int) -> None:
        self._told_to = sequence
        self._outbox.skip_to(sequence)
