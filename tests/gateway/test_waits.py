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
from tests.gateway.crowd import LONG, SOON, Reply, ask, asleep, begin
from tests.patience import eventually
from tests.serving import Server

Sql = Callable[..., list[tuple[Any, ...]]]
Add = Callable[..., None]
Calls = Callable[[], int]

BUSY = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()"""


def waiter(server: Server, key: str, seconds: float = LONG, extra: str = "", headers: str = "") -> "asyncio.Task[Reply]":
    return asyncio.ensure_future(ask(server, f"POST /v1/hot/take?key={key}&seconds={seconds}{extra}", headers))


async def waiters(server: Server, key: str, count: int, extra: str = "&group=g") -> list["asyncio.Task[Reply]"]:
    """So many, who have looked in vain and fallen asleep one after the other."""
    waiting = []
    for number in range(count):
        waiting.append(waiter(server, key, extra=extra))
        await eventually(lambda number=number: asleep(server, key) == number + 1)
    return waiting


async def answered(*waiting: "asyncio.Task[Reply]") -> list[int]:
    """Long before their time was up."""
    async with asyncio.timeout(SOON):
        return [reply.status for reply in await asyncio.gather(*waiting)]


def test_a_notice_from_another_process_wakes_a_wait(toy_server: Server, add: Add, key: str) -> None:
    async def scene() -> list[int]:
        waiting = await waiters(toy_server, key, 1)
        add()
        return await answered(*waiting)

    assert asyncio.run(scene()) == [200]


def test_a_notice_while_the_view_is_looking_is_not_lost(toy_server: Server, key: str) -> None:
    """The view ends its look only when the notice has been heard; nothing comes after it."""

    async def scene() -> list[int]:
        return await answered(waiter(toy_server, key, extra="&gap=1"))

    assert asyncio.run(scene()) == [200]


def test_work_that_falls_due_is_handed_over_then(toy_server: Server, add: Add, key: str) -> None:
    async def scene() -> tuple[list[int], float]:
        began = time.monotonic()
        add(in_seconds=0.5, notify=False)
        return await answered(waiter(toy_server, key)), time.monotonic() - began

    statuses, took = asyncio.run(scene())
    assert statuses == [200] and took >= 0.5


def test_a_wait_without_work_ends_empty_at_its_deadline(toy_server: Server, sql: Sql, key: str) -> None:
    async def scene() -> tuple[list[int], float]:
        began = time.monotonic()
        return await answered(waiter(toy_server, key, 3)), time.monotonic() - began

    statuses, took = asyncio.run(scene())
    assert statuses == [204] and took >= 3
    assert sql("SELECT again FROM toy_call WHERE key = %s ORDER BY again", key) == [(False,), (True,)]


def test_as_many_are_woken_as_there_is_work_the_longest_waiting_first(
    toy_server: Server, add: Add, key: str, calls: Calls
) -> None:
    async def scene() -> list[int]:
        waiting = await waiters(toy_server, key, 6)
        add(2)
        first = await answered(*waiting[:2])
        await eventually(lambda: asleep(toy_server, key) == 4)
        assert calls() == 8  # six that looked in vain, and two that were woken: nobody was for nothing
        add(4)
        return first + await answered(*waiting[2:])

    assert asyncio.run(scene()) == [200] * 6
    assert calls() == 12


@pytest.mark.parametrize("extra", ["", "&tell=1"])
def test_who_falls_due_or_leaves_some_wakes_the_next(toy_server: Server, add: Add, key: str, extra: str) -> None:
    """Three things fall due at one moment, or come under a notice that counts one: nobody else tells the others."""

    async def scene() -> list[int]:
        if extra:
            waiting = await waiters(toy_server, key, 3, f"&group=g{extra}")
            add(2, notify=False)
            add(1)
        else:
            add(3, in_seconds=1.5, notify=False)
            waiting = [waiter(toy_server, key, extra="&group=g") for _ in range(3)]
        return await answered(*waiting)

    assert asyncio.run(scene()) == [200, 200, 200]


def test_a_client_that_has_gone_is_given_nothing_and_its_wake_is_passed_on(
    toy_server: Server, add: Add, key: str, calls: Calls
) -> None:
    async def scene() -> list[int]:
        leaving = await begin(toy_server, f"POST /v1/hot/take?key={key}&seconds={LONG}&group=g")
        await eventually(lambda: asleep(toy_server, key) == 1)
        leaving.close()
        await eventually(lambda: asleep(toy_server, key) == 0)
        staying = await waiters(toy_server, key, 1)
        add()
        return await answered(*staying)

    assert asyncio.run(scene()) == [200]
    assert calls() == 3  # one of each, and the one that took it


def test_a_crowd_of_waiters_blocks_nobody_and_uses_no_connections(database_url: str, sql: Sql, add: Add, key: str) -> None:
    async def scene(server: Server) -> list[Reply]:
        waiting = [waiter(server, key, 10 * LONG, "&group=crowd") for _ in range(1200)]
        await eventually(lambda: asleep(server, key) == len(waiting))
        for _ in range(20):
            assert (await ask(server, "GET /v1/hot/echo")).status == 200
        await eventually(lambda: sql(BUSY)[0][0] == 0)
        assert not any(task.done() for task in waiting)
        add(1200)
        return list(await asyncio.gather(*waiting))

    large = {"TOY_THREADS": "8", "TOY_QUEUE": "1200"}
    with Server(database_url, "tests.gateway.settings", **large) as server:
        replies = asyncio.run(scene(server))
    assert [reply.status for reply in replies] == [200] * 1200


def test_waiters_beyond_the_cap_are_told_to_come_again(database_url: str, add: Add, key: str) -> None:
    async def scene(server: Server) -> list[int]:
        waiting = await waiters(server, key, 2)
        beyond = await waiter(server, key)
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
        path = f"POST /v1/hot/guarded?key={key}&seconds={LONG}"
        waiting = asyncio.ensure_future(ask(toy_server, path, headers))
        await eventually(lambda: asleep(toy_server, key) == 1)
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
