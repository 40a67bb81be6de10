"""A lane that is full says so in time, and neither the other lane nor the event loop notices."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from tests.gateway.crowd import Reply, ask, begin, figure
from tests.gateway.test_streams import open_stream
from tests.patience import PATIENCE, eventually
from tests.serving import Server

Calls = Callable[[], int]
Asking = list["asyncio.Task[Reply]"]


async def hold(server: Server, lane: str, key: str, calls: Calls, queued: int = 0) -> Asking:
    """Both threads of the lane are held, and so many more requests wait for one."""
    other = "slow" if lane == "hot" else "hot"
    held = [_hold(server, lane, key) for _ in range(2)]
    await eventually(lambda: calls() == 2)
    waiting = [_hold(server, lane, key) for _ in range(queued)]
    await eventually(lambda: figure(server, f'towpath_pool_queue{{lane="{lane}"}}', other) == queued)
    return held + waiting


def _hold(server: Server, lane: str, key: str) -> "asyncio.Task[Reply]":
    return asyncio.ensure_future(_served(server, f"GET /v1/{lane}/hold?key={key}"))


async def _served(server: Server, request: str) -> Reply:
    """Asked again where a lane of little patience had no time for it."""
    while (reply := await ask(server, request)).status == 503:
        pass
    return reply


async def release(server: Server, lane: str, key: str, holding: Asking) -> list[int]:
    """None has been answered before; through the lane that is free."""
    assert not any(task.done() for task in holding)
    assert (await _served(server, f"GET /v1/{lane}/release?key={key}")).status == 204
    return [reply.status for reply in await asyncio.gather(*holding)]


def test_a_blocked_hot_lane_stops_neither_health_nor_the_slow_lane(toy_server: Server, key: str, calls: Calls) -> None:
    async def scene() -> list[int]:
        holding = await hold(toy_server, "hot", key, calls)
        others = await asyncio.gather(ask(toy_server, "GET /healthz"), ask(toy_server, "GET /v1/slow/echo"))
        return [reply.status for reply in others] + await release(toy_server, "slow", key, holding)

    assert asyncio.run(scene()) == [200, 200, 200, 200]


def test_a_full_lane_answers_busy_at_once(toy_server: Server, key: str, calls: Calls) -> None:
    """Two threads, and a queue of four that have time enough: those beyond it are not asked to wait."""

    async def scene() -> tuple[list[Reply], list[int]]:
        holding = await hold(toy_server, "hot", key, calls, queued=4)
        beyond = await asyncio.gather(*(ask(toy_server, f"GET /v1/hot/hold?key={key}") for _ in range(2)))
        return beyond, await release(toy_server, "slow", key, holding)

    full = 'towpath_refused_total{reason="hot_full"}'
    before = figure(toy_server, full)
    beyond, held = asyncio.run(scene())
    assert held == [200] * 6
    assert [(reply.status, json.loads(reply.body)["error"]["code"]) for reply in beyond] == [(503, "BUSY")] * 2
    assert figure(toy_server, full) - before == 2


def test_who_has_no_thread_within_its_bound_is_told_that_it_is_busy(database_url: str, key: str, calls: Calls) -> None:
    """Half a second of patience, while the threads stay held."""

    async def scene(server: Server) -> tuple[list[Reply], list[int]]:
        holding = await hold(server, "hot", key, calls)
        before = figure(server, late_ones)
        late = await asyncio.gather(*(ask(server, f"GET /v1/hot/hold?key={key}") for _ in range(4)))
        assert figure(server, late_ones) - before == 4
        return late, await release(server, "slow", key, holding)

    late_ones = 'towpath_refused_total{reason="hot_late"}'
    with Server(database_url, "tests.gateway.settings", TOY_LANE_SECONDS="0.5") as server:
        late, held = asyncio.run(scene(server))
        assert held == [200, 200]
        assert [(reply.status, json.loads(reply.body)["error"]["code"]) for reply in late] == [(503, "BUSY")] * 4


def test_who_leaves_the_line_makes_room_and_nothing_is_done_for_it(toy_server: Server, key: str, calls: Calls) -> None:
    async def scene() -> None:
        holding = await hold(toy_server, "hot", key, calls)
        leaving = [await begin(toy_server, f"GET /v1/hot/hold?key={key}") for _ in range(4)]
        await queue_of(4)
        for writer in leaving:
            writer.close()
        await queue_of(0)
        others = [asyncio.ensure_future(ask(toy_server, "GET /v1/hot/echo")) for _ in range(4)]
        await queue_of(4)
        assert await release(toy_server, "slow", key, holding) == [200, 200]
        assert [reply.status for reply in await asyncio.gather(*others)] == [200] * 4
        assert calls() == 2

    async def queue_of(count: int) -> None:
        await eventually(lambda: figure(toy_server, 'towpath_pool_queue{lane="hot"}') == count)

    asyncio.run(scene())


def test_who_joins_a_live_stream_stands_in_a_line_of_its_own(database_url: str, key: str, calls: Calls) -> None:
    """More of them than the line of the others is long, and after those have been told that it is busy."""

    async def scene(server: Server) -> None:
        holding = await hold(server, "slow", key, calls)
        joins = [asyncio.ensure_future(open_stream(server, f"/v1/live?key={key}")) for _ in range(12)]
        await eventually(lambda: figure(server, 'towpath_pool_queue{lane="slow"}', "hot") == 12)
        late = await asyncio.gather(*(ask(server, "GET /v1/slow/echo") for _ in range(4)))
        assert [reply.status for reply in late] == [503] * 4
        assert not any(join.done() for join in joins)
        await release(server, "hot", key, holding)
        for reader, writer in await asyncio.gather(*joins):
            await asyncio.wait_for(reader.readuntil(b": joined\n\n"), PATIENCE)
            writer.close()

    with Server(database_url, "tests.gateway.settings", TOY_LANE_SECONDS="0.5") as server:
        asyncio.run(scene(server))


def test_who_joins_does_not_stand_in_line_for_ever(database_url: str, key: str, calls: Calls) -> None:
    async def scene(server: Server) -> list[Reply]:
        holding = await hold(server, "slow", key, calls)
        late = await asyncio.gather(*(ask(server, f"GET /v1/live?key={key}") for _ in range(4)))
        await release(server, "hot", key, holding)
        return late

    with Server(database_url, "tests.gateway.settings", TOWPATH_JOIN_SECONDS="0.5") as server:
        late = asyncio.run(scene(server))
    assert [(reply.status, json.loads(reply.body)["error"]["code"]) for reply in late] == [(503, "BUSY")] * 4


def test_busy_has_retry_after_and_the_envelope_of_its_path(toy_server: Server, key: str, calls: Calls) -> None:
    async def scene() -> Any:
        holding = await hold(toy_server, "slow", key, calls, queued=4)
        response = await asyncio.to_thread(toy_server.get, "/v1/event-queues/anything")
        await release(toy_server, "hot", key, holding)
        return response

    response = asyncio.run(scene())
    answer = json.loads(response.content)
    assert (response.status, response.headers["Retry-After"]) == (503, "1")
    assert (answer["code"], answer["data"], answer["error"]["code"]) == (503, None, "BUSY")


def test_only_hot_connections_have_the_short_lock_timeout(toy_server: Server) -> None:
    assert toy_server.get("/v1/hot/lock-timeout").content == b"1s"  # type: ignore[attr-defined]
    assert toy_server.get("/v1/slow/lock-timeout").content == b"5s"  # type: ignore[attr-defined]
