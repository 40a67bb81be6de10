"""Claims that wait, through a real server: woken by everything that makes work, and by no more than there is."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connections
from psycopg.conninfo import make_conninfo

from apps.queues.operations import dead_letters, queues, sweep, tokens
from apps.queues.operations.claim import claim
from apps.queues.operations.enqueue import NewEvent, enqueue
from apps.queues.operations.settle import acknowledge, nack
from apps.queues.selectors import QueueRow, find_queue
from tests.factories import api_key, unique
from tests.patience import eventually, until
from tests.queues.conftest import execute
from tests.serving import Server

pytestmark = pytest.mark.django_db(transaction=True)

LONG = 60
"""Seconds clients wait who have something to come; no poll wakes them before, so who is answered SOON was woken."""
SOON = 45


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[Server]:
    database = settings.DATABASES["default"]
    names = {name.lower(): database[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if database[name]}
    with Server(make_conninfo(dbname=database["NAME"], **names), TOWPATH_POLL_SECONDS="3600") as running:
        until(lambda: running.figure("towpath_listen_up") == 1)
        yield running


async def elsewhere(step: Callable[[], object]) -> None:
    """In a thread, with a connection of its own that is closed again."""

    def run() -> None:
        try:
            step()
        finally:
            connections.close_all()

    await asyncio.to_thread(run)


class Waiting:
    """Clients that wait on one queue; each call answers after how long, with which status and data."""

    def __init__(self, server: Server, queue: QueueRow) -> None:
        self.server, self.queue, self.key = server, queue, api_key()

    async def open(self, seconds: int, **fields: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        body = json.dumps({"waitSeconds": seconds, **fields})
        head = f"POST /v1/event-queues/{self.queue.name}/claim HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        head += f"Authorization: Bearer {self.key}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write((head + body).encode())
        await writer.drain()
        return reader, writer

    async def claim(self, seconds: int, **fields: Any) -> tuple[float, int, Any]:
        began = time.monotonic()
        reader, writer = await self.open(seconds, **fields)
        answer = await reader.read()
        writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        return time.monotonic() - began, int(head.split()[1]), json.loads(body)["data"]

    def asleep(self) -> int:
        return int(self.server.figure("towpath_waiters"))

    async def begin(self, clients: int = 1, seconds: int = LONG, **fields: Any) -> list[Any]:
        """Clients that have looked in vain and wait, unless their time was up before."""
        waiting = [asyncio.ensure_future(self.claim(seconds, **fields)) for _ in range(clients)]
        await eventually(lambda: self.asleep() == clients or any(task.done() for task in waiting))
        assert seconds < LONG or not any(task.done() for task in waiting)
        return waiting

    def while_waiting(self, step, **clients: int):
        """What each client is answered when the step is done while all of them wait."""

        async def scene():
            waiting = await self.begin(**clients)
            await elsewhere(step)
            return await soon(*waiting)

        return asyncio.run(scene())


async def soon(*waiting):
    async with asyncio.timeout(SOON):
        return await asyncio.gather(*waiting)


@pytest.fixture
def waiting(server: Server) -> Waiting:
    name = unique("waits")
    queues.create(None, name, max_attempts=2)
    return Waiting(server, find_queue(name))


def put(queue: QueueRow, count: int = 1, **fields) -> None:
    enqueue(queue, [NewEvent("{}", **fields) for _ in range(count)])


def test_an_event_enqueued_while_someone_waits_is_handed_over_at_once(waiting):
    ((_, status, found),) = waiting.while_waiting(lambda: put(waiting.queue))
    assert (status, found["event"]["attemptCount"]) == (200, 1)


def test_a_batch_wakes_as_many_as_there_is_work(waiting):
    async def scene():
        tasks = await waiting.begin(clients=5)
        await elsewhere(lambda: put(waiting.queue, 3))
        await eventually(lambda: sum(task.done() for task in tasks) == 3 and waiting.asleep() == 2)
        assert waiting.server.figure(woken) - before == 3
        await elsewhere(lambda: put(waiting.queue, 2))
        return await soon(*tasks)

    woken = 'towpath_wakes_total{reason="notice"}'
    before = waiting.server.figure(woken)
    answers = asyncio.run(scene())
    assert len({data["event"]["id"] for _, _, data in answers}) == 5
    assert waiting.server.figure(woken) - before == 5


def test_a_delayed_event_is_handed_over_when_it_is_due(waiting):
    ((seconds, _, found),) = waiting.while_waiting(lambda: put(waiting.queue, delay=1))
    assert found is not None
    assert seconds >= 1


def test_an_expired_lease_is_handed_over_when_it_ends(waiting):
    put(waiting.queue)
    claim(waiting.queue, seconds=1)

    async def scene():
        return await soon(waiting.claim(LONG))

    ((_, _, found),) = asyncio.run(scene())
    assert found["event"]["attemptCount"] == 2


def test_a_nack_an_ack_of_a_keys_head_and_a_redrive_wake(waiting):
    put(waiting.queue, 2, group_key="k")
    held = claim(waiting.queue)[0]
    ((_, _, found),) = waiting.while_waiting(lambda: nack(held.id, held.token, None, 0))
    assert found["event"]["id"] == str(held.id)
    ((_, _, follower),) = waiting.while_waiting(lambda: acknowledge(held.id, token_of(found)))
    assert follower["event"]["id"] != str(held.id)
    execute("UPDATE queue_event SET attempts = 2")
    nack(id_of(follower), token_of(follower))
    ((_, _, redriven),) = waiting.while_waiting(lambda: dead_letters.redrive(None, waiting.queue, id_of(follower)))
    assert redriven["event"]["attemptCount"] == 1


def test_a_paused_queue_lets_wait_and_answers_null_at_the_deadline(waiting):
    queues.pause(None, waiting.queue.id)
    ((seconds, status, found),) = waiting.while_waiting(lambda: put(waiting.queue), seconds=3)
    assert (status, found) == (200, None)
    assert seconds >= 3


def test_resuming_hands_over_at_once(waiting):
    queues.pause(None, waiting.queue.id)
    put(waiting.queue, 2)
    answers = waiting.while_waiting(lambda: queues.resume(None, waiting.queue.id), clients=2)
    assert all(data is not None for _, _, data in answers)


def test_a_pause_during_the_wait_hands_out_nothing(waiting):
    def pause_then_put() -> None:
        queues.pause(None, waiting.queue.id)
        put(waiting.queue)

    ((_, status, found),) = waiting.while_waiting(pause_then_put, seconds=3)
    assert (status, found) == (200, None)


def test_a_deletion_ends_every_wait_with_404(waiting):
    answers = waiting.while_waiting(lambda: queues.delete(None, waiting.queue.id), clients=3)
    assert [(status, data) for _, status, data in answers] == [(404, None)] * 3


def test_a_client_that_has_gone_is_given_nothing(waiting):
    async def scene():
        _, writer = await waiting.open(LONG)
        await eventually(lambda: waiting.asleep() == 1)
        writer.close()
        await writer.wait_closed()
        await eventually(lambda: waiting.asleep() == 0)
        await elsewhere(lambda: put(waiting.queue))
        return await waiting.claim(0)

    _, _, found = asyncio.run(scene())
    assert found["event"]["attemptCount"] == 1


def test_with_a_limit_it_waits_for_the_first_and_answers_what_there_is(waiting):
    async def scene():
        tasks = await waiting.begin(limit=5)
        await elsewhere(lambda: put(waiting.queue, 2))
        return await soon(*tasks)

    ((_, status, found),) = asyncio.run(scene())
    assert status == 200
    assert len(found["claims"]) == 2


def test_nothing_at_the_deadline_is_null(waiting):
    ((seconds, status, found),) = waiting.while_waiting(lambda: None, seconds=3)
    assert (status, found) == (200, None)
    assert seconds >= 3


def test_the_sweep_that_parks_a_keys_head_wakes_whoever_waits_for_the_next(waiting):
    put(waiting.queue, 2, group_key="k")
    execute("UPDATE queue_event SET attempts = 1")
    claim(waiting.queue, seconds=600)

    def end_and_park() -> None:
        execute("UPDATE queue_event SET due_at = statement_timestamp() WHERE state = 'leased'")
        assert sweep.park_exhausted(waiting.queue.id) == 1

    ((_, _, found),) = waiting.while_waiting(end_and_park)
    assert found is not None


def token_of(found):
    return tokens.read(found["leaseToken"])


def id_of(found):
    return UUID(found["event"]["id"])
