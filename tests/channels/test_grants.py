"""Grants open some channels for a while, and nothing else; once revoked they open nothing, on every process."""

import asyncio
import time
from typing import Any

import pytest
from django.conf import settings

from apps.access.credentials import CACHE_SECONDS
from apps.access.models import ApiKey
from apps.access.operations import revoke_api_key
from apps.channels.live.watch import CHECK_SECONDS, GRANTS_EVERY
from tests.channels.conftest import Channel, code, shown, sql
from tests.channels.following import connect, elsewhere, join, ran
from tests.factories import Api, api_key
from tests.patience import eventually
from tests.serving import Server

pytestmark = pytest.mark.django_db

READS = ("snapshot", "events", "logs")


@pytest.fixture(scope="module")
def two_servers(database_url):
    with (
        Server(database_url, SECRET_KEY=settings.SECRET_KEY) as first,
        Server(database_url, SECRET_KEY=settings.SECRET_KEY) as second,
    ):
        yield first, second


def test_a_grant_reads_its_channels_and_does_nothing_else(api, channel, granted):
    channel.publish()
    reader = granted(channel.name)
    assert reader.grant.keys() == {"id", "token", "expiresAt"}
    assert reader.token.startswith("tpg_")
    for read in READS:
        assert reader.get(f"{channel.path}/{read}").status_code == 200
    assert code(reader.post(f"{channel.path}/events", {"type": "x"})) == (403, "FORBIDDEN")
    for path in (channel.path, "/v1/channel-kinds", "/v1/topics", "/v1/event-queues"):
        assert code(reader.get(path)) == (401, "UNAUTHENTICATED")
    for read in READS:
        assert code(reader.get(f"/v1/streams/job:other/{read}")) == (404, "NOT_FOUND")


def test_a_grant_that_we_have_not_signed_or_that_is_unknown_is_no_token(channel, granted):
    token = granted(channel.name).token
    forged = token[:-1] + ("A" if token[-1] != "A" else "B")
    for wrong in (forged, "tpg_", "tpg_x.y.z", f"tpk_{token[4:]}"):
        assert code(Api(wrong).get(f"{channel.path}/snapshot")) == (401, "UNAUTHENTICATED")
    sql("DELETE FROM channel_grant_channel")
    sql("DELETE FROM channel_grant")
    assert code(Api(token).get(f"{channel.path}/snapshot")) == (401, "UNAUTHENTICATED")


def test_an_expired_grant_is_unauthenticated(channel, granted):
    reader = granted(channel.name)
    sql("UPDATE channel_grant SET expires_at = statement_timestamp()")
    for read in READS:
        assert code(reader.get(f"{channel.path}/{read}")) == (401, "UNAUTHENTICATED")


def test_a_revoked_grant_is_refused_and_revoking_it_again_changes_nothing(api, channel, granted):
    reader, other = granted(channel.name), granted(channel.name)
    for _ in range(2):
        assert api.delete(f"/v1/grants/{reader.grant['id']}").status_code == 204
    for read in READS:
        assert code(reader.get(f"{channel.path}/{read}")) == (403, "ACCESS_REVOKED")
    assert other.get(f"{channel.path}/snapshot").status_code == 200
    assert code(api.delete("/v1/grants/019ad0a6-6a4c-7c1e-b0f3-5d8a0c6f2b11")) == (404, "NOT_FOUND")
    trail = shown(api.get("/v1/audit", {"objectKind": "grant"}), 200)["items"]
    assert [entry["verb"] for entry in trail] == ["revoke", "create", "create"]


def test_revoking_a_subject_hits_what_was_issued_before(api, channel, granted):
    before, bens = granted(channel.name, "job:b"), granted(channel.name, subject="ben")
    assert shown(api.post("/v1/grants/revoke", {"subject": "ana"}), 200) == {"revoked": 1}
    assert code(before.get(f"{channel.path}/snapshot")) == (403, "ACCESS_REVOKED")
    assert code(before.get("/v1/streams/job:b/snapshot")) == (403, "ACCESS_REVOKED")
    assert bens.get(f"{channel.path}/snapshot").status_code == 200
    assert granted(channel.name).get(f"{channel.path}/snapshot").status_code == 200


def test_revoking_may_be_narrowed_to_channels(api, channel, granted):
    reader = granted(channel.name, "job:b")
    shown(api.post("/v1/grants/revoke", {"subject": "ana", "channels": ["job:b"]}), 200)
    assert reader.get(f"{channel.path}/snapshot").status_code == 200
    assert code(reader.get("/v1/streams/job:b/snapshot")) == (403, "ACCESS_REVOKED")


def test_who_may_manage_some_channels_grants_and_revokes_those_only(api, api_with, granted):
    narrow = api_with("manage:channels job:a*")
    body = {"subject": "ana", "ttlSeconds": 60}
    assert narrow.post("/v1/grants", {"channels": ["job:a1"], **body}).status_code == 201
    assert code(narrow.post("/v1/grants", {"channels": ["job:a1", "job:b"], **body})) == (404, "NOT_FOUND")
    wide = granted("job:a2", "job:b")
    assert code(narrow.delete(f"/v1/grants/{wide.grant['id']}")) == (404, "NOT_FOUND")
    assert code(narrow.post("/v1/grants/revoke", {"subject": "ana", "channels": ["job:b"]})) == (404, "NOT_FOUND")
    shown(narrow.post("/v1/grants/revoke", {"subject": "ana"}), 200)
    assert wide.get("/v1/streams/job:b/snapshot").status_code == 200
    assert code(wide.get("/v1/streams/job:a2/snapshot")) == (403, "ACCESS_REVOKED")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"ttlSeconds": 0}, "ttlSeconds"),
        ({"ttlSeconds": 86_401}, "ttlSeconds"),
        ({"channels": []}, "channels"),
        ({"channels": ["job:*"]}, "channels[0]"),
        ({"channels": ["job:1", "job:1"]}, "channels[1]"),
        ({"subject": ""}, "subject"),
    ],
)
def test_grants_that_are_none_are_refused(api, change, field):
    refused = api.post("/v1/grants", {"channels": ["job:1"], "subject": "ana", "ttlSeconds": 60} | change)
    assert (refused.status_code, refused.json()["error"]["details"]["field"]) == (400, field)


async def status(server: Server, channel: Channel, token: str = "", query: str = "") -> bytes:
    return (await connect(server.port, channel.name, token, query)).head[9:12]


@pytest.mark.django_db(transaction=True)
def test_only_a_grant_and_only_for_live_may_stand_in_the_url_and_it_is_never_logged(server, channel, granted):
    token = granted(channel.name).token

    async def scene():
        live = await join(server, channel.name, query=f"?grant={token}")
        await elsewhere(channel.publish)
        assert (await live.said(1))[0]["sequence"] == 1
        assert await status(server, channel, query=f"?grant={channel.api.token}") == b"401"
        assert await status(server, channel, query="?grant=") == b"401"
        assert await status(server, channel) == b"401"
        for read in READS:
            refused = await asyncio.to_thread(server.get, f"{channel.path}/{read}?grant={token}")
            assert refused.status == 401

    ran(scene())
    assert token not in server.log()
    assert "/live" in server.log()


async def ended(lives: list[Any]) -> None:
    await asyncio.gather(*(live.rest() for live in lives))


def ended_lines(server: Server, channel: Channel) -> list[str]:
    return [line for line in server.log().splitlines() if f"{channel.path}/live" in line]


def revoke_silently(grant: str) -> None:
    sql("UPDATE channel_grant_channel SET revoked_at = statement_timestamp() WHERE grant_id = %s", grant)


def test_nobody_goes_on_for_five_seconds_after_a_revocation_of_which_no_notice_told():
    assert CHECK_SECONDS * GRANTS_EVERY < 5
    assert CACHE_SECONDS + CHECK_SECONDS < 5


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("notice", [True, False], ids=["with its notice", "the notice lost"])
def test_a_revocation_ends_open_connections_of_every_process(two_servers, api, channel, granted, notice):
    gone, stays = granted(channel.name), granted(channel.name, subject="ben")

    async def scene():
        lives = [await join(server, channel.name, gone.token) for server in two_servers]
        others = [await join(server, channel.name, stays.token) for server in two_servers]
        if notice:
            await elsewhere(api.delete, f"/v1/grants/{gone.grant['id']}")
        else:
            await elsewhere(revoke_silently, gone.grant["id"])
        await ended(lives)
        for server in two_servers:
            assert await status(server, channel, gone.token) == b"403"
        await elsewhere(channel.publish)
        for other in others:
            assert (await other.said(1))[0]["sequence"] == 1

    ran(scene())


@pytest.mark.django_db(transaction=True)
def test_a_connection_ends_when_its_grant_expires(server, channel, granted):
    async def scene():
        for seconds in (2, 10, 50):
            began = time.monotonic()
            reader = await elsewhere(granted, channel.name, seconds=seconds)
            live = await connect(server.port, channel.name, reader.token)
            if live.head.startswith(b"HTTP/1.1 200"):  # else the machine was so slow that it had expired before
                break
        await ended([live])
        assert time.monotonic() - began >= seconds
        assert await status(server, channel, reader.token) == b"401"

    ran(scene())


@pytest.mark.django_db(transaction=True)
def test_a_revoked_api_key_ends_its_connections_on_every_process(two_servers, channel):
    token = api_key("read:channels")
    key = ApiKey.objects.latest("id")

    async def scene():
        lives = [await join(server, channel.name, token) for server in two_servers]
        await elsewhere(revoke_api_key, key)
        await ended(lives)

    ran(scene())


@pytest.mark.django_db(transaction=True)
def test_a_slow_reader_is_ended_by_its_revocation_too(server, api, channel, granted):
    """Its connection is in the middle of a send that the client does not take."""
    reader = granted(channel.name)

    async def scene():
        live = await join(server, channel.name, reader.token)
        live.writer.transport.pause_reading()
        await elsewhere(lambda: [channel.publish(data="x" * 30_000) for _ in range(400)])
        await elsewhere(api.delete, f"/v1/grants/{reader.grant['id']}")
        await eventually(lambda: ended_lines(server, channel))
        live.writer.transport.resume_reading()
        told = [lines for lines in await live.rest() if lines[0].startswith("id:")]
        assert len(told) < 400

    ran(scene())


def test_there_is_no_grant_for_a_channel_of_no_kind(api):
    answer = api.post("/v1/grants", {"channels": ["job:1", "nokind:1"], "subject": "ana", "ttlSeconds": 60})
    assert code(answer) == (404, "NOT_FOUND")
    assert sql("SELECT count(*) FROM channel_grant") == [(0,)]
