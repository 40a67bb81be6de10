"""A percent-encoded character is part of its segment: nothing but the thing of that very name is acted on."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.endpoints import endpoints
from tests.factories import Api, unique
from tests.gateway.test_bodies import said
from tests.serving import Server

pytestmark = pytest.mark.django_db(transaction=True)

MARKS = ["%3F", "%23", "%2F", "%2f", "%25", "%00", "%0A", "%253F", "%252F", "%2500", "%FF", "%C0%AF", "\xff"]
ENDS = ["", "limit=1", "purge", "groups/g"]
OTHERS = ["a", "b", "a?b", "a/b", "a%2Fb", "a%3Fb", "%FF", "ä"]
GUARDED = [endpoint for endpoint in endpoints() if not endpoint.is_public and endpoint.route.startswith("/v1/")]


@pytest.fixture(scope="module")
def server(database_url: str) -> Iterator[Server]:
    """The project's own views."""
    with Server(database_url) as running:
        yield running


def send(server: Server, key: str | None, method: str, path: str) -> int:
    """The status of a request whose path nobody has tidied."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\r\n"
    with server.connect() as line:
        line.sendall(head.encode("latin-1"))
        return int(said(line).split(b" ")[1])


@pytest.fixture
def name(api: Api) -> str:
    """One of each under this name, which no test before had: a server remembers for a while what a name stood for."""
    name = unique("kept")
    made = {
        "/v1/topics": {"name": name},
        "/v1/event-destinations": {"name": name, "type": "DURABLE_CONSUMER", "topic": name},
        "/v1/event-queues": {"name": name},
        f"/v1/event-queues/{name}/events": {"payload": {}},
        "/v1/schedules": {"name": name, "queue": name, "payload": {}, "everySeconds": 86_400, "enabled": False},
        f"/v1/topics/{name}/groups/{name}/assignments": {"memberId": name, "ttlSeconds": 3_600},
    }
    for path, body in made.items():
        assert api.post(path, body).status_code in (200, 201), path
    return name


def seen(api: Api, name: str) -> list[Any]:
    """What there is, and in which state."""
    lists = ("topics", "event-destinations", "event-queues", "schedules", f"topics/{name}/groups", f"event-queues/{name}")
    return [api.get(f"/v1/{path}").json() | {"requestId": None} for path in lists]


@pytest.mark.parametrize("mark", MARKS)
def test_no_encoded_character_makes_a_call_mean_another_thing(server: Server, api: Api, name: str, mark: str) -> None:
    before = seen(api, name)
    for endpoint in GUARDED:
        for path in {endpoint.path_named(name) + mark + end for end in ENDS} | {
            endpoint.path_named(name + mark + end) for end in ENDS if "<" in endpoint.route
        }:
            status = send(server, api.token, endpoint.method, path)
            # A member may be called anything; who is none has nothing to leave.
            assert status in (400, 404, 405) or (status == 204 and "/assignments/" in path), (str(endpoint), path, status)
    assert seen(api, name) == before


def test_an_encoded_slash_does_not_part_a_path(server: Server, api: Api, name: str) -> None:
    before = seen(api, name)
    for endpoint in GUARDED:
        parts = endpoint.path_named(name).removeprefix("/v1/").split("/")
        for place in range(1, len(parts)):
            path = "/v1/" + "/".join(parts[:place]) + "%2F" + "/".join(parts[place:])
            assert send(server, api.token, endpoint.method, path) in (404, 405), (str(endpoint), path)
    assert seen(api, name) == before


@pytest.mark.parametrize("member", [*OTHERS, "/", "a#b", ";", "?", "%"])
def test_a_member_leaves_by_its_very_name(server: Server, api: Api, member: str) -> None:
    topic = unique("crowd")
    members = f"/v1/topics/{topic}/groups/g/assignments"

    def who_holds() -> set[str | None]:
        (group,) = api.get(f"/v1/topics/{topic}/groups").json()["items"]
        return {place["memberId"] for place in group["partitions"]} - {None}

    api.post("/v1/topics", {"name": topic, "partitions": 32})
    everyone = {*OTHERS, member}
    for one in [*everyone, *everyone]:
        assert api.post(members, {"memberId": one, "ttlSeconds": 3_600}).status_code == 200
    assert who_holds() == everyone
    assert send(server, api.token, "DELETE", f"{members}/{quote(member, safe='')}") == 204
    assert who_holds() == everyone - {member}


def test_the_log_shows_no_grant_that_was_put_into_the_path(server: Server) -> None:
    assert send(server, None, "GET", "/v1/streams/job:1/live%3Fgrant=tpg_astray") == 404
    assert "tpg_astray" not in server.log()
