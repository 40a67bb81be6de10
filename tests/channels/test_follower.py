"""One connection by itself: comments at their time whether or not events come, and nothing that comes is left lying."""

import asyncio
from typing import Any

import pytest

from apps.channels.live import follower as module
from apps.channels.live import frames
from apps.channels.live.follower import Follower
from apps.channels.live.frames import Frame


class Taking:
    """A link whose client takes all, after a turn of the loop or more."""

    def __init__(self, turns: int = 1) -> None:
        self.sent: list[bytes] = []
        self._turns = turns

    async def send(self, chunk: bytes) -> None:
        for _ in range(self._turns):
            await asyncio.sleep(0)
        self.sent.append(chunk)


def frame(sequence: int) -> Frame:
    return Frame(sequence, b"id: %d\ndata: x\n\n" % sequence)


async def passing_on(follower: Follower, link: Taking, scene: Any) -> None:
    task = asyncio.ensure_future(follower._pass_on(link))  # type: ignore[arg-type]
    async with asyncio.timeout(20):
        await scene()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("busy", [False, True])
def test_comments_come_again_and_again_also_beside_events(monkeypatch, busy):
    monkeypatch.setattr(module, "COMMENT_SECONDS", 0.01)
    follower, link = Follower("job:x", "token", 0, None), Taking()

    async def scene() -> None:
        sequence = 0
        while link.sent.count(frames.COMMENT) < 3:
            if busy:
                sequence += 1
                follower.hear([frame(sequence)])
            await asyncio.sleep(0)

    asyncio.run(passing_on(follower, link, scene))


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_what_comes_while_it_sends_or_sleeps_is_sent(turns):
    follower, link = Follower("job:x", "token", 0, None), Taking(turns)

    async def scene() -> None:
        for sequence in range(1, 201):
            follower.hear([frame(sequence)])
            for _ in range(sequence % 5):
                await asyncio.sleep(0)
        while not link.sent or not link.sent[-1].endswith(frame(200).text):
            await asyncio.sleep(0)

    asyncio.run(passing_on(follower, link, scene))
    told = [int(line[4:]) for line in b"".join(link.sent).decode().split("\n") if line.startswith("id: ")]
    assert told == list(range(1, 201))


def test_a_resync_wakes_it():
    follower, link = Follower("job:x", "token", 0, None), Taking()

    async def scene() -> None:
        await asyncio.sleep(0)
        follower.resync()
        while not link.sent:
            await asyncio.sleep(0)

    asyncio.run(passing_on(follower, link, scene))
    assert link.sent == [frames.resync("job:x")]
