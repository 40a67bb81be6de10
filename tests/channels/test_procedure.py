"""The six steps by our client and by a second implementation: the same state as if never away, nothing applied twice."""

import asyncio
import json
import os
import random
import shutil
import subprocess
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from msgspec import Raw

from apps.channels.operations.delete import delete
from apps.channels.operations.publish import Target, publish
from tests.channels.following import SecondFollower, change, elsewhere, get, join, ran
from tests.channels.rough import RoughLink
from tests.factories import api_key, unique
from tests.patience import eventually
from tests.serving import ROOT

pytestmark = pytest.mark.django_db(transaction=True)

CLIENT = ROOT / "apps" / "channels" / "static" / "channels" / "client.js"
SCRIPT = Path(__file__).with_name("follow.mjs")
EVENTS = int(300 * float(os.environ.get("TOWPATH_TEST_SCALE", "1")))


def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no Node here to run the client with")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version[1:].split(".")[0]) < 20:
        pytest.skip(f"the client needs Node 20, and this is {version.strip()}")
    return found


class Job:
    """A job whose document and events say the same, so that whoever lost or doubled one ends up with other sums."""

    def __init__(self) -> None:
        self.name = unique("job:p")
        self.state: dict[str, Any] = {}
        self._lock = threading.Lock()

    def progress(self, n: int) -> int:
        with self._lock:
            change(self.state, {"n": n})
            document = json.dumps(self.state).encode()
            done = publish([Target(self.name, {"job": Raw(document)})], "job.progressed", json.dumps({"n": n}))
            return done.positions[0].sequence


async def publish_for_a_while(job: Job, events: int, seconds: float) -> None:
    def work() -> None:
        try:
            for n in range(events):
                job.progress(n)
                threading.Event().wait(random.uniform(0, 2 * seconds / events))
        finally:
            connection.close()

    await asyncio.to_thread(work)


async def client(port: int, channel: str, token: str, until: int) -> dict[str, Any]:
    """What the JavaScript client holds in the end."""
    arguments = [str(SCRIPT), str(CLIENT), f"http://127.0.0.1:{port}", channel, token, str(until)]
    running = await asyncio.create_subprocess_exec(
        node(), *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await running.communicate()
    assert running.returncode == 0, err.decode()
    return json.loads(out)


def in_order_and_once(applied: list[int]) -> bool:
    return all(before < after for before, after in pairwise(applied))


def test_both_hold_the_same_state_after_any_disconnection_under_load(server):
    job, token = Job(), api_key("read:channels")
    job.progress(7)

    async def scene():
        async with RoughLink(server.port, random.Random(4), (0.05, 1.5)) as link:
            second = SecondFollower(link.port, job.name, token)
            following = asyncio.gather(
                second.follow(EVENTS + 1), *(client(link.port, job.name, token, EVENTS + 1) for _ in range(2))
            )
            await publish_for_a_while(job, EVENTS - 1, seconds=6)
            await eventually(lambda: link.cuts > 5)  # nobody has all of it, so everybody comes back
            link.mend()
            await elsewhere(job.progress, EVENTS)
            _, *held = await following
            return second, held

    second, held = ran(scene())
    assert second.state == job.state
    assert in_order_and_once(second.applied)
    for each in held:
        assert each["state"] == job.state
        assert each["cursor"] == EVENTS + 1
        assert in_order_and_once(each["applied"])
        assert each["snapshots"] == 1


def test_what_is_published_in_each_gap_is_there_once(server):
    """Before subscribing, between subscribing and snapshot, between snapshot and replay, between replay and live."""
    job, token = Job(), api_key("read:channels")

    async def scene():
        await elsewhere(job.progress, 1)  # before
        live = await join(server, job.name, token)
        await elsewhere(job.progress, 2)  # after subscribing
        _, snapshot = await get(server.port, f"/v1/streams/{job.name}/snapshot", token)
        await elsewhere(job.progress, 3)  # after the snapshot
        _, page = await get(server.port, f"/v1/streams/{job.name}/events?after={snapshot['cursor']}", token)
        await elsewhere(job.progress, 4)  # after the replay
        return snapshot, page, await live.said(3)

    snapshot, page, told = ran(scene())
    assert snapshot["sequence"] == 2
    assert [event["sequence"] for event in page["events"]] == [3]
    assert [event["sequence"] for event in told] == [2, 3, 4]
    state, cursor = snapshot["data"]["job"], snapshot["sequence"]
    for event in [*page["events"], *told]:
        if event["sequence"] == cursor + 1:
            change(state, event["data"])
            cursor += 1
    assert state == job.state


def test_the_client_starts_over_when_it_is_told_to(server):
    """Deleted and begun anew meanwhile, and expired while away: a snapshot, and no event of before."""
    job, token = Job(), api_key("read:channels")
    for n in range(5):
        job.progress(n)

    async def scene():
        async with RoughLink(server.port, random.Random(1), (0.5, 0.5)) as link:
            following = asyncio.ensure_future(client(link.port, job.name, token, 40))
            second = SecondFollower(link.port, job.name, token)
            also = asyncio.ensure_future(second.follow(40))
            while server.log().count(f"{job.name}/snapshot") < 2:  # until both know of the state before
                await asyncio.sleep(0.1)
            await elsewhere(begin_anew, job)
            await publish_for_a_while(job, 34, seconds=2)
            link.mend()
            await also
            return await following, second

    held, second = ran(scene())
    assert held["state"] == second.state == job.state
    assert held["snapshots"] >= 2
    assert in_order_and_once(held["applied"]) and in_order_and_once(second.applied)


def begin_anew(job: Job) -> None:
    delete(None, job.name)
    job.state = {}


def test_the_client_follows_pointers_and_large_events(server):
    job, token = Job(), api_key("read:channels")

    async def scene():
        following = asyncio.ensure_future(client(server.port, job.name, token, 10))
        await asyncio.sleep(0.7)
        for n in range(10):
            await elsewhere(large, job, n)
        return await following

    held = ran(scene())
    assert held["state"] == job.state
    assert in_order_and_once(held["applied"])


def large(job: Job, n: int) -> None:
    change(job.state, {"n": n})
    document = Raw(json.dumps(job.state).encode())
    publish([Target(job.name, {"job": document})], "x", json.dumps({"n": n, "text": "x" * (50_000 if n % 2 else 10)}))


def test_the_client_gives_up_when_it_is_refused_for_good(server):
    async def scene():
        with pytest.raises(AssertionError, match=r"Refused.*404 NOT_FOUND"):
            await client(server.port, unique("nothing:x"), api_key_elsewhere, 1)

    api_key_elsewhere = api_key("read:channels")
    ran(scene())


def test_the_client_is_short_and_depends_on_nothing():
    text = CLIENT.read_text()
    assert len(text.splitlines()) < 300
    assert "import " not in text.replace("@import", "") and "require(" not in text
