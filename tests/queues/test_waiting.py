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
from tests.queues.conftest import execute
from tests.serving import Server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[Server]:
    database = settings.DATABASES["default"]
    names = {name.lower(): database[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if database[name]}
    with Server(make_conninfo(dbname=database["NAME"], **names)) as running:
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
    """Clients that wait on one queue; each call answers when, with which status and data."""

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

    def while_waiting(self, step, *, clients: int = 1, seconds: int = 10, settle: float = 0.4):
        """What each client is answered when the step is done while all of them wait."""

        async def scene():
            waiting = [asyncio.ensure_future(self.claim(seconds)) for _ in range(clients)]
            await asyncio.sleep(settle)
            assert not any(task.done() for task in waiting)
            await elsewhere(step)
            return await asyncio.gather(*waiting)

        return asyncio.run(scene())


@pytest.fixture
def waiting(server: Server) -> Waiting:
    name = unique("waits")
    queues.create(None, name, max_attempts=2)
    return Waiting(server, find_queue(name))


def put(queue: QueueRow, count: int = 1, **fields) -> None:
    enqueue(queue, [NewEvent("{}", **fields) for _ in range(count)])


def test_an_event_enqueued_while_someone_waits_is_handed_over_at_once(waiting):
    ((seconds, status, found),) = waiting.while_waiting(lambda: put(waiting.queue))
    assert (status, found["event"]["attemptCount"]) == (200, 1)
    assert seconds < 6


def test_a_batch_wakes_as_many_as_there_is_work(waiting):
    answers = waiting.while_waiting(lambda: put(waiting.queue, 3), clients=5, seconds=2)
    assert [status for _, status, _ in answers] == [200] * 5
    found = [data for _, _, data in answers if data]
    assert len({data["event"]["id"] for data in found}) == 3
    assert all(seconds > 1.9 for seconds, _, data in answers if data is None)


def test_a_delayed_event_is_handed_over_when_it_is_due(waiting):
    ((seconds, _, found),) = waiting.while_waiting(lambda: put(waiting.queue, delay=1))
    assert found is not None
    assert 1.3 < seconds < 6


def test_an_expired_lease_is_handed_over_when_it_ends(waiting):
    put(waiting.queue)
    claim(waiting.queue, seconds=1)
    ((seconds, _, found),) = waiting.while_waiting(lambda: None)
    assert found["event"]["attemptCount"] == 2
    assert seconds < 6


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
    ((seconds, status, found),) = waiting.while_waiting(lambda: put(waiting.queue), seconds=1)
    assert (status, found) == (200, None)
    assert 0.95 < seconds < 5


def test_resuming_hands_over_at_once(waiting):
    queues.pause(None, waiting.queue.id)
    put(waiting.queue, 2)
    answers = waiting.while_waiting(lambda: queues.resume(None, waiting.queue.id), clients=2)
    assert all(data is not None and seconds < 2 for seconds, _, data in answers)


def test_a_pause_during_the_wait_hands_out_nothing(waiting):
    def pause_then_put() -> None:
        queues.pause(None, waiting.queue.id)
        put(waiting.queue)

    ((_, status, found),) = waiting.while_waiting(pause_then_put, seconds=1)
    assert (status, found) == (200, None)


def test_a_deletion_ends_every_wait_with_404(waiting):
    answers = waiting.while_waiting(lambda: queues.delete(None, waiting.queue.id), clients=3)
    assert [(status, data) for _, status, data in answers] == [(404, None)] * 3
    assert all(seconds < 3 for seconds, *_ in answers)


def test_a_client_that_has_gone_is_given_nothing(waiting):
    async def scene():
        _, writer = await waiting.open(10)
        await asyncio.sleep(0.3)
        writer.close()
        await writer.wait_closed()
        await asyncio.sleep(0.3)
        await elsewhere(lambda: put(waiting.queue))
        await asyncio.sleep(0.5)

    asyncio.run(scene())
    assert execute("SELECT state, attempts FROM queue_event") == [("ready", 0)]


def test_with_a_limit_it_waits_for_the_first_and_answers_what_there_is(waiting):
    async def scene():
        task = asyncio.ensure_future(waiting.claim(10, limit=5))
        await asyncio.sleep(0.3)
        await elsewhere(lambda: put(waiting.queue, 2))
        return await task

    _, status, found = asyncio.run(scene())
    assert status == 200
    assert len(found["claims"]) == 2


def test_nothing_at_the_deadline_is_null(waiting):
    ((seconds, status, found),) = waiting.while_waiting(lambda: None, seconds=1)
    assert (status, found) == (200, None)
    assert 0.95 < seconds < 5


def test_the_sweep_that_parks_a_keys_head_wakes_whoever_waits_for_the_next(waiting):
    put(waiting.queue, 2, group_key="k")
    execute("UPDATE queue_event SET attempts = 1")
    claim(waiting.queue, seconds=600)

    def end_and_park() -> None:
        execute("UPDATE queue_event SET due_at = statement_timestamp() WHERE state = 'leased'")
        assert sweep.park_exhausted(waiting.queue.id) == 1

    ((seconds, _, found),) = waiting.while_waiting(end_and_park)
    assert found is not None
    assert seconds < 6


def token_of(found):
    return tokens.read(found["leaseToken"])


def id_of(found):
    return UUID(found["event"]["id"])
