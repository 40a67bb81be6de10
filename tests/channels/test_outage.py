"""PostgreSQL is restarted, or away for a while, under open streams: they stay, and nothing is missed or told twice."""

import asyncio
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from apps.channels.live.follower import Follower
from apps.channels.selectors.reading import read
from core.errors import Busy
from tests.channels.conftest import sql
from tests.channels.following import Live, SecondFollower, connect, elsewhere, get, join, ran
from tests.channels.test_procedure import Job, client, in_order_and_once, publish_for_a_while
from tests.factories import api_key, unique
from tests.gateway.crowd import listening
from tests.gateway.test_listener import Pipe
from tests.serving import Server

pytestmark = pytest.mark.django_db(transaction=True)

PROCESS = unique("followed server")
# As a restart does to all at once. Other servers of this run lose their listener too, which does them no harm.
KILL = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name IN (%s, 'towpath listener')"""


@pytest.fixture(scope="module")
def cut(database_url: str) -> Iterator[tuple[Server, Pipe]]:
    """A server whose connections to the database can be ended, and refused."""
    parts = conninfo_to_dict(database_url)
    pipe = Pipe(str(parts["host"]), int(str(parts["port"] or 5432)))
    through = make_conninfo(database_url, host="127.0.0.1", port=pipe.port)
    with Server(through, TOWPATH_PROCESS=PROCESS) as server:
        yield server, pipe
    pipe.close()


def restart(refusing: Pipe | None = None) -> None:
    """Ends every connection of the server, once it has any again; and lets it make no other."""
    end = time.monotonic() + 30
    while True:
        if refusing:
            refusing.refuse.set()
        if sql(KILL, PROCESS)[0][0]:
            return
        if refusing:
            refusing.refuse.clear()
        assert time.monotonic() < end
        time.sleep(0.05)


def faults(server: Server) -> list[str]:
    return re.findall(r'"event":"(?:gateway|live)\.(?:failed|watch_failed)".*', server.log())


async def until(condition: Any, within: float = 30) -> None:
    async with asyncio.timeout(within):
        while not await asyncio.to_thread(condition):
            await asyncio.sleep(0.05)


async def sequences(live: Live, last: int) -> list[int]:
    """What it tells until that one."""
    told: list[int] = []
    while not told or told[-1] < last:
        told += [said["sequence"] for said in await live.said(1, within=30)]
    return told


def test_streams_stay_open_through_restarts_and_tell_everything_once(cut):
    server, _ = cut
    job, token = Job(), api_key("read:channels")

    async def scene():
        lives = [await join(server, job.name, token) for _ in range(3)]
        telling = [asyncio.ensure_future(sequences(live, 150)) for live in lives]
        publishing = asyncio.ensure_future(publish_for_a_while(job, 150, seconds=3))
        for _ in range(3):
            await asyncio.sleep(0.7)
            await elsewhere(restart)
        await publishing
        assert await asyncio.gather(*telling) == [list(range(1, 151))] * 3
        # Still the same connections, and still live.
        await elsewhere(job.progress, 1)
        assert [await sequences(live, 151) for live in lives] == [[151]] * 3

    ran(scene(), within=90)
    assert not faults(server)


def test_what_was_published_while_the_database_was_away_is_told_when_it_is_back(cut):
    server, pipe = cut
    job, token = Job(), api_key("read:channels")
    job.progress(1)

    async def scene():
        follower = await join(server, job.name, token)
        returned = await join(server, job.name, token, Last_Event_ID="0")
        assert [said["sequence"] for said in await returned.said(1)] == [1]
        await elsewhere(restart, pipe)
        await until(lambda: not listening(server))
        for n in range(30):
            await elsewhere(job.progress, n)
        await asyncio.sleep(2)  # so that attempts fail
        status, said = await get(server.port, f"/v1/streams/{job.name}/events?after=0", token)
        assert (status, said["error"]["code"]) == (503, "UNAVAILABLE")
        lines = len(server.log().splitlines())
        await asyncio.sleep(2)
        assert len(server.log().splitlines()) - lines < 5  # waiting for it fills no log
        pipe.refuse.clear()
        assert await sequences(follower, 31) == await sequences(returned, 31) == list(range(2, 32))
        await until(lambda: listening(server))

    try:
        ran(scene(), within=120)
    finally:
        pipe.refuse.clear()
    assert not faults(server)


def test_followers_hold_the_same_state_after_restarts_under_load(cut):
    server, pipe = cut
    job, token = Job(), api_key("read:channels")
    job.progress(7)

    async def scene():
        second = SecondFollower(server.port, job.name, token)
        following = asyncio.gather(second.follow(201), client(server.port, job.name, token, 201))
        publishing = asyncio.ensure_future(publish_for_a_while(job, 200, seconds=4))
        for away in (0, 1.5, 0):
            await asyncio.sleep(0.7)
            await elsewhere(restart, pipe if away else None)
            await asyncio.sleep(away)
            pipe.refuse.clear()
        await publishing
        return second, (await following)[1]

    try:
        second, held = ran(scene(), within=120)
    finally:
        pipe.refuse.clear()
    assert second.state == held["state"] == job.state
    assert held["cursor"] == 201
    assert in_order_and_once(second.applied) and in_order_and_once(held["applied"])


class Distant:
    """A link whose database is away for the first so many calls."""

    def __init__(self, failures: list[Exception]) -> None:
        self.failures, self.sent = failures, b""

    async def call(self, function: Any, *arguments: Any) -> Any:
        if self.failures:
            raise self.failures.pop(0)
        return await elsewhere(function, *arguments)

    async def send(self, chunk: bytes) -> None:
        self.sent += chunk


def test_a_catch_up_that_meets_the_outage_goes_on_where_it_was(channel, monkeypatch):
    """The client is not sent away: it would come back to a 503, after which an EventSource never tries again."""
    monkeypatch.setattr("apps.channels.live.follower.RETRY_SECONDS", 0.01)
    for n in range(5):
        channel.publish(data={"n": n})
    link = Distant([OperationalError("the connection is lost"), Busy("no thread"), OperationalError("starting up")])
    follower = Follower(channel.name, "token", 5, None, "2")
    asyncio.run(follower._catch_up(link))  # type: ignore[arg-type]
    frames = [frame for frame in link.sent.decode().split("\n\n") if frame]
    assert frames[:3] == [": still here"] * 3
    assert [int(frame.split("\n")[0][4:]) for frame in frames[3:]] == [3, 4, 5]
    assert follower._told_to == read(channel.name, 0, 0)[0].last == 5


def test_many_channels_read_at_once_leave_threads_to_others(cut):
    """When the listener comes back every feed looks; nobody is answered BUSY because of it."""
    server, _ = cut
    token, names = api_key("read:channels", "write:channels"), [unique("job:m") for _ in range(200)]

    async def scene():
        lives = [await connect(server.port, name, token) for name in names]
        await until(lambda: listening(server))
        ups = server.log().count('"listener.up"')
        await elsewhere(restart)
        codes = set()
        began = time.monotonic()
        while time.monotonic() - began < 30 and server.log().count('"listener.up"') == ups:
            codes.add(await snapshot_code(names[0]))
        # What was being read when its connection was ended may say so, nothing else.
        assert codes <= {"ok", "UNAVAILABLE"}
        assert {await snapshot_code(names[0]) for _ in range(20)} == {"ok"}
        assert len(lives) == 200

    async def snapshot_code(name):
        status, said = await get(server.port, f"/v1/streams/{name}/snapshot", token)
        return "ok" if status == 200 else said["error"]["code"]

    ran(scene(), within=120)
    assert not [line for line in server.log().splitlines() if '"live.delayed"' in line and re.search("busy|thread", line)]
