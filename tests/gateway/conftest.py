"""One toy server for the session, on the test database, and the table its views work on."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.conf import settings
from psycopg.conninfo import make_conninfo

from core.notices import CHANNEL
from tests.factories import unique
from tests.gateway.crowd import listening
from tests.patience import until
from tests.serving import Server

TABLES = """
DROP TABLE IF EXISTS toy_work, toy_call;
CREATE TABLE toy_work (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text NOT NULL, due timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE toy_call (key text NOT NULL, again boolean NOT NULL);
"""

ADD = """INSERT INTO toy_work (key, due)
    SELECT %s, statement_timestamp() + make_interval(secs => %s) FROM generate_series(1, %s)"""


@pytest.fixture(scope="session")
def database_url(django_db_setup: None) -> str:
    database = settings.DATABASES["default"]
    return make_conninfo(
        dbname=database["NAME"],
        **{name.lower(): database[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if database[name]},
    )


@pytest.fixture(scope="session")
def sql(database_url: str) -> Iterator[Callable[..., Any]]:
    """Runs a statement outside any transaction and answers its rows."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(TABLES)
        lock = threading.Lock()

        def run(text: str, *parameters: Any) -> list[tuple[Any, ...]]:
            with lock:
                cursor = connection.execute(text, parameters or None)
                return cursor.fetchall() if cursor.description else []

        yield run
        connection.execute("DROP TABLE toy_work, toy_call")


@pytest.fixture(scope="session")
def toy_server(database_url: str, sql: Callable[..., Any]) -> Iterator[Server]:
    with Server(database_url, "tests.gateway.settings") as server:
        until(lambda: listening(server))
        yield server


@pytest.fixture
def key() -> str:
    return unique("key")


@pytest.fixture
def add(sql: Callable[..., Any], key: str) -> Callable[..., None]:
    """Work under the test's key, with its notice: from another process than the server."""

    def work(count: int = 1, in_seconds: float = 0, notify: bool = True) -> None:
        sql(ADD, key, in_seconds, count)
        if notify:
            sql("SELECT pg_notify(%s, %s)", CHANNEL, f"toy:{key}={count}")

    return work


@pytest.fixture
def calls(sql: Callable[..., Any], key: str) -> Callable[[], int]:
    """How often the views that tell of it have been called with the test's key, first looks and second ones."""
    return lambda: int(sql("SELECT count(*) FROM toy_call WHERE key = %s", key)[0][0])


@pytest.fixture
def log_lines() -> Callable[[Server, str], list[dict[str, Any]]]:
    def lines(server: Server, request_id: str) -> list[dict[str, Any]]:
        parsed = [json.loads(line) for line in server.log().splitlines() if line.startswith("{")]
        return [line for line in parsed if line.get("request_id") == request_id]

    return lines
