"""What the hub remembers, and for how long: exact rules that sockets show only now and then."""

import asyncio
import time

from core.waits import Wait
from gateway import hub as hubs
from gateway.hub import Hub, Woken


def sleep(hub: Hub, since: float, seconds: float = 0.1, keys: tuple[str, ...] = ("topic:1",)) -> Woken:
    async def scene() -> Woken:
        gone = asyncio.get_running_loop().create_future()
        return await hub.sleep(Wait(keys, seconds), since, time.monotonic() + seconds, gone, first=False)

    return asyncio.run(scene())


def test_a_notice_younger_than_the_look_wakes_at_once_and_an_older_one_does_not() -> None:
    hub = Hub(10)
    before = time.monotonic()
    hub.notify("topic:1", 1)
    assert sleep(hub, since=before) is Woken.NOTICE
    assert sleep(hub, since=time.monotonic()) is Woken.DEADLINE
    assert sleep(hub, since=before, keys=("topic:2",)) is Woken.DEADLINE


def test_what_had_to_be_forgotten_counts_as_noticed() -> None:
    hub = Hub(10)
    before = time.monotonic()
    hub.notify("topic:1", 1)
    for number in range(hubs.REMEMBERED_KEYS):
        hub.notify(f"other:{number}", 1)
    assert len(hub._noticed) == hubs.REMEMBERED_KEYS
    assert sleep(hub, since=before) is Woken.NOTICE
    assert sleep(hub, since=time.monotonic()) is Woken.DEADLINE


def test_after_the_listener_was_away_everybody_looks_once() -> None:
    hub = Hub(10)
    before = time.monotonic()
    hub.hear_again()
    assert sleep(hub, since=before) is Woken.NOTICE
    assert sleep(hub, since=time.monotonic()) is Woken.DEADLINE


def test_nothing_is_kept_of_those_who_have_left() -> None:
    hub = Hub(10)
    sleep(hub, since=time.monotonic(), seconds=0.01)
    assert len(hub) == 0 and hub._groups == {} and hub._by_key == {}


def test_who_found_nothing_keeps_its_place() -> None:
    async def scene() -> list[str]:
        hub, woken = Hub(10), []

        async def waits(name: str, first: bool) -> None:
            gone = asyncio.get_running_loop().create_future()
            since = time.monotonic()
            await hub.sleep(Wait(("q",), 60, group="g"), since, since + 60, gone, first)
            woken.append(name)

        newer = asyncio.ensure_future(waits("newer", first=False))
        await asyncio.sleep(0.01)
        older = asyncio.ensure_future(waits("older", first=True))
        await asyncio.sleep(0.01)
        hub.notify("q", 1)
        await asyncio.wait([newer, older], return_when=asyncio.FIRST_COMPLETED)
        hub.stop()
        await asyncio.gather(newer, older)
        return woken

    assert asyncio.run(scene()) == ["older", "newer"]
