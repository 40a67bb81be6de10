"""What one connection has still to send, in bounded memory: a slow reader gets a pointer, and then resync.required."""

from collections import deque
from collections.abc import Iterable

from apps.channels.live import frames
from apps.channels.live.frames import Frame

MAX_FRAMES = 256
MAX_BYTES = 256 * 1024
CHUNK_BYTES = 64 * 1024
MAX_LOST = 1_000  # events; a pointer to as many is still cheaper to follow than a snapshot


class Outbox:
    def __init__(self, channel: str) -> None:
        self._channel = channel
        self._frames: deque[Frame] = deque()
        self._bytes = 0
        self._lost = self._lost_to = 0
        self._must_resync = False

    def __bool__(self) -> bool:
        return bool(self._frames or self._lost or self._must_resync)

    def put(self, offered: Iterable[Frame]) -> None:
        for frame in offered:
            # Once one is lost, those that follow wait for the pointer: it stands for all of them.
            if self._lost or len(self._frames) >= MAX_FRAMES or self._bytes + len(frame.text) > MAX_BYTES:
                self._lost += 1
                self._lost_to = frame.sequence
            else:
                self._frames.append(frame)
                self._bytes += len(frame.text)

    def resync(self) -> None:
        """Whatever waits here is of no use any more."""
        self._frames.clear()
        self._bytes = self._lost = 0
        self._must_resync = True

    def skip_to(self, sequence: int) -> None:
        """What has been told in another way need not be told from here."""
        while self._frames and self._frames[0].sequence <= sequence:
            self._bytes -= len(self._frames.popleft().text)
        if self._lost_to <= sequence:
            self._lost = 0

    def take(self) -> bytes:
        """The next chunk; empty when there is nothing."""
        if self._must_resync:
            self._must_resync = False
            return frames.resync(self._channel)
        if not self._frames:
            return self._pointer()
        taken = [self._frames.popleft().text]
        size = len(taken[0])
        while self._frames and size + len(self._frames[0].text) <= CHUNK_BYTES:
            taken.append(self._frames.popleft().text)
            size += len(taken[-1])
        self._bytes -= size
        return taken[0] if len(taken) == 1 else b"".join(taken)

    def _pointer(self) -> bytes:
        lost, self._lost = self._lost, 0
        if not lost:
            return b""
        return frames.resync(self._channel) if lost > MAX_LOST else frames.pointer(self._channel, self._lost_to)
