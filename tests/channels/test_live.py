"""Live: joined first, then what comes; nothing lost between replay and stream; bounded, and never slowed by others."""

import asyncio
import socket
from typing import Any

import pytest
from django.db import connection

from apps.channels.operations.publish import Target, publish
from tests.channels.conftest import Channel, sql
from tests.channels.following import connect, elsewhere, join, ran
from tests.factories import unique
from tests.patience import PATIENCE, eventually
from tests.serving import Server

LARGE = '"%s"' % ("x" * 30_000)

pytestmark = pytest.mark.django_db(transaction=True)


async def tell(channel: Channel, **fields: Any) -> Any:
    """From a thread of its own, so that the connections of the test go on."""
    return await elsewhere(channel.publish, **fields)


def test_it_says_joined_and_then_each_event_as_it_comes(server, channel):
    async def scene():
        live = await join(server, channel.name, channel.api.token)
        assert b"text/event-stream" in live.head and b"x-accel-buffering: no" in live.head and b"no-transform" in live.head
        done = await tell(channel, type="job.started", data={"by": "ana"}, id="e1")
        lines = await asyncio.wait_for(anext(live.frames()), PATIENCE)
        assert lines[0] == "id: 1"
        live.close()
        return lines[1], done

    line, done = ran(scene())
    assert done["sequence"] == 1
    (event,) = channel.events()["events"]
    assert line == "data: " + channel.api.get(f"{channel.path}/events").content.decode()[len('{"events":[') :].split("],")[0]
    assert event["data"] == {"by": "ana"}


def test_a_channel_can_be_followed_before_anybody_has_published_to_it(server, channel):
    async def scene():
        live = await join(server, channel.name, channel.api.token)
        await tell(channel)
        return (await live.said(1))[0]["sequence"]

    assert ran(scene()) == 1


def test_what_is_committed_after_joined_is_told_though_other_followers_were_there_before(server, channel):
    async def scene():
        first = await join(server, channel.name, channel.api.token)
        for number in range(1, 11):
            later = await join(server, channel.name, channel.api.token)
            await tell(channel)
            assert [event["sequence"] for event in await later.said(1)] == [number]
            later.close()
        assert [event["sequence"] for event in await first.said(10)] == list(range(1, 11))

    ran(scene())


def test_one_read_serves_every_connection_of_the_process(server, channel):
    async def scene():
        lives = [await join(server, channel.name, channel.api.token) for _ in range(20)]
        before = await asyncio.to_thread(server.figure, "towpath_live_reads_total")
        for number in range(5):
            await tell(channel, data=number)
            for live in lives:
                assert [event["data"] for event in await live.said(1)] == [number]
        return await asyncio.to_thread(server.figure, "towpath_live_reads_total") - before

    assert ran(scene()) <= 5 + 2


def test_a_reconnect_gets_what_it_missed_and_then_goes_on_without_a_seam(server, channel):
    for _ in range(250):
        channel.publish()

    async def scene():
        live = await join(server, channel.name, channel.api.token, Last_Event_ID="3")
        publishing = asyncio.ensure_future(publish_many(channel, 50))
        told = [event["sequence"] for event in await live.said(297)]
        await publishing
        return told

    assert ran(scene()) == list(range(4, 301))


async def publish_many(channel: Channel, count: int) -> None:
    def all_of_them() -> None:
        for number in range(count):
            channel.publish(data=number)

    await elsewhere(all_of_them)


def test_many_reconnects_under_load_each_see_a_range_without_gap_or_double(server, channel):
    channel.publish()

    async def one(start: int):
        live = await join(server, channel.name, channel.api.token, Last_Event_ID=str(start))
        told = [event["sequence"] for event in await live.said(30)]
        live.close()
        assert told[0] == start + 1
        assert told == list(range(told[0], told[0] + len(told)))
        return told[-1]

    async def scene():
        publishing = asyncio.ensure_future(publish_many(channel, 400))
        ends = [0] * 8
        while not publishing.done():
            ends = await asyncio.gather(*(one(max(0, end - 5)) for end in ends)) if ends[0] < 300 else ends
            await asyncio.sleep(0)
        await publishing

    ran(scene())


@pytest.mark.parametrize(
    ("last_event_id", "said"),
    [
        ("0", 1),
        ("2", 3),
        ("5", "nothing"),
        ("6", "resync.required"),
        ("1005", "resync.required"),
        ("does-not-exist", "resync.required"),
        ("9" * 30, "resync.required"),
        ("-1", "resync.required"),
        ("", "nothing"),
    ],
)
def test_a_last_event_id_that_means_nothing_here_says_so(server, channel, last_event_id, said):
    for _ in range(5):
        channel.publish()

    async def scene():
        live = await join(server, channel.name, channel.api.token, Last_Event_ID=last_event_id)
        await tell(channel, type="now")
        return (await live.said(1))[0]

    first = ran(scene())
    if isinstance(said, int):
        assert first["sequence"] == said
    else:
        assert first["type"] == ("now" if said == "nothing" else said)


def test_more_missed_than_a_thousand_or_what_has_expired_is_a_resync(server, channel):
    channel.publish()
    sql("INSERT INTO channel_event SELECT id, n, now(), n, n::text, 'x', '1' FROM channel, generate_series(2, 1003) n")
    sql("UPDATE channel SET last_sequence = 1003")

    async def first(last_event_id: int):
        live = await join(server, channel.name, channel.api.token, Last_Event_ID=str(last_event_id))
        said = (await live.said(1))[0]
        live.close()
        return said.get("sequence", said["type"])

    assert ran(first(2)) == "resync.required"
    assert ran(first(3)) == 4
    sql("DELETE FROM channel_event WHERE sequence < 501")
    sql("UPDATE channel SET oldest_sequence = 501")
    assert ran(first(499)) == "resync.required"
    assert ran(first(500)) == 501


def test_line_breaks_in_data_forge_no_frames_and_only_events_have_ids(server, channel):
    body = b'{"type": "x", "data": {"a":\r\n\r\n "b\\r\\n\\r\\ndata: x\xe2\x80\xa8",\n\n"c": 1}}'

    async def scene():
        live = await join(server, channel.name, channel.api.token)
        await elsewhere(channel.api.post, f"{channel.path}/events", body)
        await tell(channel, data="x" * 40_000)
        await elsewhere(channel.api.delete, channel.path)
        frames = live.frames()
        return [await asyncio.wait_for(anext(frames), PATIENCE) for _ in range(3)]

    event, pointer, resync = ran(scene())
    assert (len(event), event[0]) == (2, "id: 1")
    assert channel.name in pointer[0]
    assert pointer == [f'data: {{"type":"beyond-cdn-pointer/1","channel":"{channel.name}","sequence":2}}']
    assert resync == [f'data: {{"type":"resync.required","channel":"{channel.name}"}}']


def test_large_events_travel_whole_or_as_a_pointer_and_are_stored_in_any_case(server, channel):
    async def scene():
        live = await join(server, channel.name, channel.api.token)
        for data in ("x" * 7_900, "x" * 8_100, "😀" * 2_000, "x" * 200_000):
            await tell(channel, data=data)
        return await live.said(4)

    said = ran(scene())
    assert [each["type"] for each in said] == ["job.progressed"] * 3 + ["beyond-cdn-pointer/1"]
    assert (said[2]["data"], said[3]["sequence"]) == ("😀" * 2_000, 4)
    assert len(channel.events()["events"]) == 4


def test_a_deletion_tells_followers_to_start_over_and_they_hear_what_comes_then(server, channel):
    channel.publish()

    async def scene():
        live = await join(server, channel.name, channel.api.token)
        await elsewhere(channel.api.delete, channel.path)
        assert (await live.said(1))[0] == {"type": "resync.required", "channel": channel.name}
        await tell(channel)
        return (await live.said(1))[0]["sequence"]

    assert ran(scene()) == 3


def test_a_slow_reader_gets_a_pointer_or_a_resync_and_slows_nobody(server, channel):
    async def scene():
        slow = await join(server, channel.name, channel.api.token)
        slow.writer.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        slow.writer.transport.pause_reading()
        quick = await join(server, channel.name, channel.api.token)
        for number in range(1, 221):
            await elsewhere(publish, [Target(channel.name)], "x", LARGE)
            assert [event["sequence"] for event in await quick.said(1)] == [number]
        slow.writer.transport.resume_reading()
        seen: list[Any] = []
        while not seen or "data" in seen[-1]:
            seen += await slow.said(1)
        return seen

    *events, last = ran(scene())
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    assert last["type"] in ("beyond-cdn-pointer/1", "resync.required")
    assert len(events) < 220


def test_live_goes_on_after_the_listener_was_away(server, channel):
    async def scene():
        live = await join(server, channel.name, channel.api.token)
        killed = await elsewhere(
            sql,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'towpath listener'",
        )
        assert killed
        await tell(channel)
        assert (await live.said(1))[0]["sequence"] == 1
        await tell(channel)
        return (await live.said(1))[0]["sequence"]

    assert ran(scene()) == 2


def test_an_event_whose_notice_was_lost_is_told_by_the_slow_poll(database_url, channel):
    with Server(database_url, TOWPATH_POLL_SECONDS="1") as server:

        async def scene():
            live = await join(server, channel.name, channel.api.token)
            await elsewhere(
                sql,
                "WITH c AS (UPDATE channel SET last_sequence = last_sequence + 1 WHERE name = %s"
                " RETURNING id, last_sequence)"
                " INSERT INTO channel_event SELECT id, last_sequence, now(), 1, 'silent', 'x', '1' FROM c",
                channel.name,
            )
            return (await live.said(1))[0]["id"]

        channel.publish()
        assert ran(scene()) == "silent"


def test_streams_end_cleanly_when_the_server_stops(database_url, channel):
    """A stop would wait for them far longer than the test does."""
    with Server(database_url, TOWPATH_STOP_SECONDS="600") as server:

        async def scene():
            live = await join(server, channel.name, channel.api.token)
            stopping = asyncio.ensure_future(asyncio.to_thread(server.stop))
            await live.rest()
            await stopping

        ran(scene())
        assert "Traceback" not in server.log()


def test_connections_are_counted_for_metrics_and_api(server, channel):
    async def scene():
        lives = [await join(server, channel.name, channel.api.token) for _ in range(3)]
        assert await asyncio.to_thread(server.figure, "towpath_streams") >= 3
        await eventually(lambda: counted(channel) == 3)
        for live in lives:
            live.close()
        await eventually(lambda: counted(channel) == 0)

    channel.publish()
    ran(scene())


def counted(channel: Channel) -> int:
    try:
        return int(channel.api.get(channel.path).json()["liveConnections"])
    finally:
        connection.close()


def test_an_unknown_kind_is_no_stream(server, api):
    async def scene():
        return (await connect(server.port, unique("nothing:x"), api.token)).head

    assert ran(scene()).startswith(b"HTTP/1.1 404")
