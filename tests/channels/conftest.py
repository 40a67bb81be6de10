"""One channel to work on."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from tests.factories import Api, unique
from tests.patience import until
from tests.serving import Server


class Channel:
    """Calls one channel through the API and answers the JSON of each."""

    def __init__(self, api: Api, name: str) -> None:
        self.api, self.name, self.path = api, name, f"/v1/streams/{name}"

    def publish(self, type: str = "job.progressed", status: int = 201, **fields: Any) -> Any:  # noqa: A002
        return shown(self.api.post(f"{self.path}/events", {"type": type, **fields}), status)

    def snapshot(self, status: int = 200) -> Any:
        return shown(self.api.get(f"{self.path}/snapshot"), status)

    def events(self, after: int | str = 0, status: int = 200, **query: Any) -> Any:
        return shown(self.api.get(f"{self.path}/events", {"after": after, **query}), status)

    def log(self, *lines: dict[str, Any], status: int = 201) -> Any:
        return shown(self.api.post(f"{self.path}/logs", {"lines": lines}), status)

    def logs(self, after: int = 0, status: int = 200, **query: Any) -> Any:
        return shown(self.api.get(f"{self.path}/logs", {"after": after, **query}), status)


def shown(answer: Any, status: int) -> Any:
    assert answer.status_code == status, answer.content
    return answer.json()


def code(answer: Any) -> tuple[int, str]:
    """Status and code of an error, of an answer or of its JSON."""
    return answer.status_code, answer.json()["error"]["code"]


@pytest.fixture
def channel(api: Api) -> Channel:
    return Channel(api, unique("job:j"))


@pytest.fixture
def application(api: Api) -> Channel:
    return Channel(api, unique("application:a"))


def sql(text: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(text, parameters or None)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def granted(api: Api) -> Callable[..., Api]:
    """A client with a grant for these channels: `granted("job:42", subject="ana")`."""

    def make(*channels: str, subject: str = "ana", seconds: int = 60) -> Api:
        made = shown(api.post("/v1/grants", {"channels": channels, "subject": subject, "ttlSeconds": seconds}), 201)
        client = Api(made["token"])
        client.grant = made  # type: ignore[attr-defined]
        return client

    return make


@pytest.fixture(scope="session")
def database_url(django_db_setup: None) -> str:
    database = settings.DATABASES["default"]
    return make_conninfo(
        dbname=database["NAME"],
        **{name.lower(): database[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if database[name]},
    )


@pytest.fixture(scope="session")
def server(database_url: str) -> Iterator[Server]:
    """A real one, on the test database: what it serves has to be committed. What it tells it was told by notices."""
    with Server(database_url, SECRET_KEY=settings.SECRET_KEY, TOWPATH_POLL_SECONDS="3600") as running:
        until(lambda: running.figure("towpath_listen_up") == 1)
        yield running
