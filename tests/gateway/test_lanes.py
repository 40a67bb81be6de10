"""A lane that is full says so in time, and neither the other lane nor the event loop notices."""

import asyncio
import json
import time

from tests.gateway.crowd import ask
from tests.serving import Server


def test_a_blocked_hot_lane_stops_neither_health_nor_the_slow_lane(toy_server: Server) -> None:
    async def blocked() -> tuple[list[int], float]:
        holding = [asyncio.ensure_future(ask(toy_server, "GET /v1/hot/hold?seconds=1")) for _ in range(2)]
        await asyncio.sleep(0.2)
        began = time.monotonic()
        others = await asyncio.gather(ask(toy_server, "GET /healthz"), ask(toy_server, "GET /v1/slow/echo"))
        took = time.monotonic() - began
        return [reply.status for reply in (*others, *await asyncio.gather(*holding))], took

    statuses, took = asyncio.run(blocked())
    assert statuses == [200, 200, 200, 200] and took < 0.3


def test_a_full_lane_answers_busy_at_once_and_a_late_thread_within_its_bound(toy_server: Server) -> None:
    """Two threads, a queue of four, half a second of patience."""

    async def overfull() -> list[tuple[int, float, bytes]]:
        began = time.monotonic()
        replies = await asyncio.gather(*(ask(toy_server, "GET /v1/hot/hold?seconds=1.5") for _ in range(8)))
        return sorted((reply.status, round(reply.at - began, 2), reply.body) for reply in replies)

    replies = asyncio.run(overfull())
    assert [status for status, _, _ in replies] == [200] * 2 + [503] * 6
    at_once = [took for status, took, _ in replies if status == 503 and took < 0.3]
    late = [took for status, took, _ in replies if status == 503 and took >= 0.3]
    assert len(at_once) == 2 and len(late) == 4 and max(late) < 0.9
    assert json.loads(replies[-1][2])["error"]["code"] == "BUSY"


def test_busy_has_retry_after_and_the_envelope_of_its_path(toy_server: Server) -> None:
    async def overfull() -> object:
        holding = [asyncio.ensure_future(ask(toy_server, "GET /v1/slow/hold?seconds=0.8")) for _ in range(6)]
        await asyncio.sleep(0.2)
        response = await asyncio.to_thread(toy_server.get, "/v1/event-queues/anything")
        await asyncio.gather(*holding)
        return response

    response = asyncio.run(overfull())
    answer = json.loads(response.content)  # type: ignore[attr-defined]
    assert (response.status, response.headers["Retry-After"]) == (503, "1")  # type: ignore[attr-defined]
    assert (answer["code"], answer["data"], answer["error"]["code"]) == (503, None, "BUSY")


def test_only_hot_connections_have_the_short_lock_timeout(toy_server: Server) -> None:
    assert toy_server.get("/v1/hot/lock-timeout").content == b"1s"  # type: ignore[attr-defined]
    assert toy_server.get("/v1/slow/lock-timeout").content == b"5s"  # type: ignore[attr-defined]
