"""Large bodies in numbers: a bound on what one process holds of them, which a request that waits does not count against."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.factories import Api, unique
from tests.gateway.crowd import asleep, figure
from tests.gateway.test_lanes import hold, release
from tests.patience import PATIENCE, eventually
from tests.serving import Server

MIB = 1024 * 1024
Answer = tuple[int, dict[str, str], Any]


@pytest.fixture(scope="module")
def narrow(database_url: str, sql: Callable[..., Any]) -> Iterator[Server]:
    """Room for three bodies of a MiB."""
    with Server(database_url, "tests.gateway.settings", TOY_BODIES=str(3 * MIB), TOY_QUEUE="64") as server:
        yield server


async def post(server: Server, path: str, body: bytes) -> Answer:
    """Without a thread of its own, of which there are few."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().splitlines()
    headers = dict(line.split(": ", 1) for line in lines[1:] if line)
    content = await reader.readexactly(int(headers["content-length"]))
    writer.close()
    return int(lines[0].split(" ")[1]), headers, json.loads(content)


def posting(server: Server, path: str, size: int) -> "asyncio.Task[Answer]":
    return asyncio.ensure_future(post(server, path, b"x" * size))


async def queued(server: Server, count: int) -> None:
    await eventually(lambda: figure(server, 'towpath_pool_queue{lane="hot"}') == count)


def test_bodies_that_are_held_have_a_bound_beyond_which_only_small_ones_are_taken(
    narrow: Server, key: str, calls: Callable[[], int]
) -> None:
    async def scene() -> None:
        holding = await hold(narrow, "hot", key, calls)
        large = [posting(narrow, "/v1/hot/echo", MIB) for _ in range(3)]
        await queued(narrow, 3)
        status, headers, refused = await post(narrow, "/v1/hot/echo", b"x" * MIB)
        assert (status, headers["retry-after"], refused["error"]["code"]) == (503, "1", "BUSY")
        small = [posting(narrow, "/v1/hot/echo", 16_384) for _ in range(8)]
        await queued(narrow, 3 + 8)
        await release(narrow, "slow", key, holding)
        assert [status for status, _, _ in await asyncio.gather(*large, *small)] == [200] * 11
        assert (await post(narrow, "/v1/hot/echo", b"x" * (3 * MIB)))[0] == 200

    asyncio.run(scene())


def test_what_was_refused_while_it_came_leaves_room(narrow: Server) -> None:
    """In chunks, so that nobody knows before how much it is."""

    async def scene() -> None:
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", narrow.port)
            writer.write(b"POST /v1/hot/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(60):
                writer.write(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
            assert head.startswith(b"HTTP/1.1 503") and b"retry-after: 1" in head
            writer.close()
        assert (await post(narrow, "/v1/hot/echo", b"x" * (2 * MIB)))[0] == 200

    asyncio.run(scene())


def test_who_waits_holds_no_large_body(narrow: Server, key: str, add: Callable[..., None]) -> None:
    """Twelve MiB are sent by those that wait in the end, past a bound of three."""

    async def scene() -> None:
        waiting = []
        for number in range(1, 7):
            body = b"{" + b" \t" * MIB + b"}"
            waiting.append(asyncio.ensure_future(post(narrow, f"/v1/hot/take?key={key}&seconds=300", body)))
            await eventually(lambda number=number: asleep(narrow, key) == number)
        await asyncio.to_thread(add, 6)
        assert sorted([status for status, _, _ in await asyncio.gather(*waiting)]) == [200] * 6

    asyncio.run(scene())


def test_a_large_body_that_cannot_be_made_small_is_not_waited_with(toy_server: Server, key: str) -> None:
    """The view looked at it, found no work, and that is the answer; a deadline is far away."""
    assert toy_server.request("POST", f"/v1/hot/take?key={key}&seconds=3000", b"x" * MIB).status == 204
    assert toy_server.request("POST", f"/v1/hot/take?key={key}&seconds=3000", b'["' + b"x" * MIB + b'"]').status == 204


@pytest.fixture(scope="module")
def server(database_url: str) -> Iterator[Server]:
    """The project's own views."""
    with Server(database_url) as running:
        yield running


@pytest.mark.django_db(transaction=True)
def test_calls_that_may_wait_read_a_large_body_as_any_call_does(server: Server, api: Api) -> None:
    name = unique("large")
    assert api.post("/v1/event-queues", {"name": name}).status_code == 201
    api.post("/v1/topics", {"name": name})
    assert api.post("/v1/event-destinations", {"name": name, "type": "DURABLE_CONSUMER", "topic": name}).status_code == 201
    assert api.post(f"/v1/event-queues/{name}/events", {"payload": {}}).status_code == 201
    claim, pull = f"/v1/event-queues/{name}/claim", f"/v1/event-destinations/{name}/pull"

    def error(path: str, body: bytes, key: str | None = api.token) -> tuple[int, str, Any]:
        answer = server.request("POST", path, body, headers={"Authorization": f"Bearer {key}"})
        found = json.loads(answer.content)["error"]  # type: ignore[attr-defined]
        return answer.status, found["code"], found["details"].get("field")

    assert error(claim, b'{"no": "' + b"x" * MIB + b'"}') == (400, "INVALID_FIELD", "no")
    assert error(pull, b"x" * 20_000)[:2] == (400, "INVALID_FIELD")
    assert (
        error(claim, b" " * 20_000, "tpk_none")[:2] == error(pull, b" " * 20_000, "tpk_none")[:2] == (401, "UNAUTHENTICATED")
    )
    fits = server.request(
        "POST", claim, b'{"leaseSeconds": 60' + b" " * 3 * MIB + b"}", headers={"Authorization": f"Bearer {api.token}"}
    )
    assert fits.status == 200 and json.loads(fits.content)["data"]["event"]  # type: ignore[attr-defined]
