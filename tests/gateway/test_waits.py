"""A wait holds no thread and no connection, loses no notice, and is given nothing once its client has gone."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.access import operations
from apps.access.models import ApiKey
from core.notices import CHANNEL
from tests.factories import grants, unique
from tests.gateway.crowd import Reply, ask, leave
from tests.serving import Server

Sql = Callable[..., list[tuple[Any, ...]]]
Add = Callable[..., None]

BUSY = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()"""


def calls(sql: Sql, key: str) -> int:
    return int(sql("SELECT count(*) FROM toy_call WHERE key = %s", key)[0][0])


def waiters(sql: Sql, key: str) -> int:
    """How many have looked and begun to wait. Second looks are not counted: a server just started sends somebody to look
    again as soon as its listener hears."""
    return int(sql("SELECT count(*) FROM toy_call WHERE key = %s AND NOT again", key)[0][0])


async def until(condition: Callable[[], object], within: float = 10) -> None:
    end = time.monotonic() + within
    while not await asyncio.to_thread(condition):
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def waiter(server: Server, key: str, seconds: float = 10, extra: str = "", headers: str = "") -> "asyncio.Task[Reply]":
    return asyncio.ensure_future(ask(server, f"POST /v1/hot/take?key={key}&seconds={seconds}{extra}", headers))


def test_a_notice_from_another_process_wakes_a_wait(toy_server: Server, sql: Sql, add: Add, key: str) -> None:
    async def scene() -> tuple[Reply, float]:
        waiting = waiter(toy_server, key)
        await until(lambda: waiters(sql, key))
        began = time.monotonic()
        add()
        return await waiting, began

    reply, began = asyncio.run(scene())
    assert reply.status == 200 and reply.at - began < 0.5


def test_a_notice_while_the_view_is_looking_is_not_lost(toy_server: Server, key: str) -> None:
    async def scene() -> tuple[Reply, float]:
        began = time.monotonic()
        return await waiter(toy_server, key, extra="&gap=1"), began

    reply, began = asyncio.run(scene())
    assert reply.status == 200 and reply.at - began < 1


def test_work_that_falls_due_is_handed_over_then(toy_server: Server, add: Add, key: str) -> None:
    async def scene() -> tuple[Reply, float]:
        began = time.monotonic()
        add(in_seconds=0.5, notify=False)
        return await waiter(toy_server, key), began

    reply, began = asyncio.run(scene())
    assert reply.status == 200 and 0.4 < reply.at - began < 1


def test_a_wait_without_work_ends_empty_at_its_deadline(toy_server: Server, sql: Sql, key: str) -> None:
    async def scene() -> tuple[Reply, float]:
        began = time.monotonic()
        return await waiter(toy_server, key, 0.4), began

    reply, began = asyncio.run(scene())
    assert reply.status == 204 and 0.4 <= reply.at - began < 0.8
    assert sql("SELECT again FROM toy_call WHERE key = %s ORDER BY again", key) == [(False,), (True,)]


def test_as_many_are_woken_as_there_is_work_the_longest_waiting_first(
    toy_server: Server, sql: Sql, add: Add, key: str
) -> None:
    async def scene() -> list[int]:
        waiting = []
        for number in range(6):
            waiting.append(waiter(toy_server, key, 2, "&group=g"))
            await until(lambda number=number: waiters(sql, key) == number + 1)
        await asyncio.sleep(0.05)
        add(2)
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0.2)
        assert calls(sql, key) == 8  # six that looked in vain, two that were woken
        return [reply.status for reply in await asyncio.gather(*waiting)]

    assert asyncio.run(scene()) == [200, 200, 204, 204, 204, 204]


@pytest.mark.parametrize("extra", ["", "&tell=1"])
def test_who_falls_due_or_leaves_some_wakes_the_next(toy_server: Server, sql: Sql, add: Add, key: str, extra: str) -> None:
    """Three things fall due at one moment, or come under a notice that counts one: nobody else tells the others."""

    async def scene() -> tuple[list[int], float]:
        if not extra:
            add(3, in_seconds=0.5, notify=False)
        waiting = [waiter(toy_server, key, 5, f"&group=g{extra}") for _ in range(3)]
        await until(lambda: waiters(sql, key) == 3)
        if extra:
            await asyncio.sleep(0.1)
            add(2, notify=False)
            add(1)
        began = time.monotonic()
        return [reply.status for reply in await asyncio.gather(*waiting)], time.monotonic() - began

    statuses, took = asyncio.run(scene())
    assert statuses == [200, 200, 200] and took < 1


def test_a_client_that_has_gone_is_given_nothing_and_its_wake_is_passed_on(
    toy_server: Server, sql: Sql, add: Add, key: str
) -> None:
    async def scene() -> Reply:
        await leave(toy_server, f"POST /v1/hot/take?key={key}&seconds=10&group=g", after=0.2)
        staying = waiter(toy_server, key, 5, "&group=g")
        await until(lambda: waiters(sql, key) == 2)
        await asyncio.sleep(0.2)
        add()
        return await staying

    assert asyncio.run(scene()).status == 200
    assert calls(sql, key) == 3  # one of each, and the one that took it


def test_a_crowd_of_waiters_blocks_nobody_and_uses_no_connections(database_url: str, sql: Sql, add: Add, key: str) -> None:
    async def scene(server: Server) -> tuple[float, int, list[Reply]]:
        waiting = [waiter(server, key, 30, "&group=crowd") for _ in range(1200)]
        await until(lambda: waiters(sql, key) == len(waiting), within=30)
        began = time.monotonic()
        for _ in range(20):
            assert (await ask(server, "GET /v1/hot/echo")).status == 200
        took = time.monotonic() - began
        busy = sql(BUSY)[0][0]
        add(1200)
        return took, busy, list(await asyncio.gather(*waiting))

    large = {"TOY_THREADS": "8", "TOY_QUEUE": "1200", "TOY_LANE_SECONDS": "20"}
    with Server(database_url, "tests.gateway.settings", **large) as server:
        took, busy, replies = asyncio.run(scene(server))
    assert took < 1 and busy == 0
    assert [reply.status for reply in replies] == [200] * 1200


def test_waiters_beyond_the_cap_are_told_to_come_again(database_url: str, sql: Sql, add: Add, key: str) -> None:
    async def scene(server: Server) -> list[int]:
        waiting = [waiter(server, key, 10) for _ in range(2)]
        await until(lambda: waiters(sql, key) == 2)
        await asyncio.sleep(0.1)
        beyond = await waiter(server, key, 10)
        at_once = await waiter(server, key, 0)  # waits for nothing, so it needs no place
        add(2)
        return [beyond.status, at_once.status, *[reply.status for reply in await asyncio.gather(*waiting)]]

    with Server(database_url, "tests.gateway.settings", TOWPATH_MAX_WAITERS="2") as server:
        assert asyncio.run(scene(server)) == [503, 204, 200, 200]


@pytest.mark.django_db(transaction=True)
def test_a_key_revoked_meanwhile_gets_nothing(toy_server: Server, sql: Sql, add: Add, key: str) -> None:
    row, token = operations.create_api_key(unique("waiter"), grants("read:queues"))
    headers = f"Authorization: Bearer {token}\r\n"

    async def scene() -> Reply:
        path = f"POST /v1/hot/guarded?key={key}&seconds=20"
        waiting = asyncio.ensure_future(ask(toy_server, path, headers))
        await until(lambda: waiters(sql, key))
        await asyncio.to_thread(revoke, row)
        while not waiting.done():  # a revocation may take a few seconds to reach every process
            sql("SELECT pg_notify(%s, %s)", CHANNEL, f"toy:{key}=1")
            await asyncio.sleep(0.2)
        add()
        return await waiting

    assert asyncio.run(scene()).status == 401
    assert sql("SELECT count(*) FROM toy_work WHERE key = %s", key) == [(1,)]


def revoke(row: ApiKey) -> None:
    """On a thread of its own, whose connection ends with it."""
    operations.revoke_api_key(row)
    connection.close()
