"""The database goes and comes back: 503 in our shape meanwhile, and afterwards all is well without touching anything."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from apps.access import operations
from tests.factories import grants, unique
from tests.gateway.crowd import figure, listening
from tests.gateway.test_listener import Pipe
from tests.patience import PATIENCE, until
from tests.serving import Server

Sql = Callable[..., list[tuple[Any, ...]]]

CONNECTIONS = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'toy server'"


def kill_all(sql: Sql) -> None:
    """Every connection of the server's threads, and they are gone when this comes back."""
    sql(f"SELECT count(pg_terminate_backend(pid)) {CONNECTIONS}")
    until(lambda: not sql(f"SELECT 1 {CONNECTIONS}"))


@pytest.fixture
def token(transactional_db: None) -> str:
    return operations.create_api_key(unique("client"), grants("read:queues"))[1]


@pytest.fixture
def cut_server(database_url: str, token: str) -> Iterator[tuple[Server, Pipe]]:
    """A server whose every connection to the database can be cut, and not be made again."""
    parts = conninfo_to_dict(database_url)
    pipe = Pipe(str(parts["host"]), int(str(parts["port"] or 5432)))
    through = make_conninfo(database_url, host="127.0.0.1", port=pipe.port)
    with Server(through, "tests.gateway.settings", TOWPATH_PROCESS="toy server") as server:
        yield server, pipe
    pipe.close()


def ask(server: Server, token: str) -> tuple[int, dict[str, Any]]:
    path = f"/v1/hot/guarded?key={unique('key')}&seconds=0"
    answer = server.request("POST", path, headers={"Authorization": f"Bearer {token}"})
    raw = answer.content  # type: ignore[attr-defined]
    return answer.status, json.loads(raw) if raw else {}


def settles(server: Server, token: str) -> set[int]:
    """Statuses seen until ten answers in a row were good."""
    seen, row, end = set(), 0, time.monotonic() + PATIENCE
    while row < 10:
        assert time.monotonic() < end, seen
        status, _ = ask(server, token)
        seen.add(status)
        row = row + 1 if status == 204 else 0
    return seen


def test_connections_that_were_killed_are_replaced_before_anybody_notices(
    cut_server: tuple[Server, Pipe], sql: Sql, token: str
) -> None:
    """As a restart of PostgreSQL does to those of all threads."""
    server, _ = cut_server
    assert settles(server, token) == {204}
    kill_all(sql)
    assert settles(server, token) == {204}


def test_a_database_that_falls_silent_is_answered_for_in_time(database_url: str, token: str) -> None:
    parts = conninfo_to_dict(database_url)
    pipe = Pipe(str(parts["host"]), int(str(parts["port"] or 5432)))
    through = make_conninfo(database_url, host="127.0.0.1", port=pipe.port)
    # Who has a thread is answered after eight seconds, who finds none after half of one.
    patience = {"TOWPATH_HOT_ANSWER_SECONDS": "8", "TOY_LANE_SECONDS": "0.5"}
    with Server(through, "tests.gateway.settings", **patience) as server:
        assert settles(server, token) <= {204, 503}
        pipe.swallow.set()
        written = []
        writing = threading.Thread(target=lambda: written.append(ask(server, token)))
        writing.start()
        read = server.get("/v1/hot/lock-timeout")
        error = json.loads(read.content)["error"]  # type: ignore[attr-defined]
        assert (read.status, error["code"], read.headers["Retry-After"]) == (503, "UNAVAILABLE", "1")
        writing.join()
        assert [(status, body["error"]["code"]) for status, body in written] == [(503, "UNCERTAIN")]
        assert figure(server, 'towpath_pool_busy{lane="hot"}') == 2  # both threads still wait for the database
        assert ask(server, token)[1]["error"]["code"] == "BUSY"
        assert server.get("/healthz").status == 200
        server.process.kill()
    pipe.close()


def test_while_the_database_is_away_it_says_so_and_then_recovers(
    cut_server: tuple[Server, Pipe], sql: Sql, token: str
) -> None:
    server, pipe = cut_server
    assert settles(server, token) == {204}
    pipe.refuse.set()
    kill_all(sql)
    refused = [ask(server, token) for _ in range(6)]
    assert {status for status, _ in refused} == {503}
    assert {body["error"]["code"] for _, body in refused} == {"UNAVAILABLE"}
    assert server.get("/healthz").status == 200
    lines = len(server.log().splitlines())
    time.sleep(1)
    assert len(server.log().splitlines()) - lines < 5  # waiting for it fills no log
    pipe.refuse.clear()
    assert settles(server, token) <= {204, 503}
    until(lambda: listening(server))
