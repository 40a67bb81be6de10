"""A world in which every name is `hostile`, so that endpoints are reached beyond a 404; and a count of what is stored."""

import contextlib
from collections.abc import Callable, Iterator

import pytest
from django.db import connection

from tests.endpoints import endpoints
from tests.factories import Api

MADE_BY = {
    "/v1/topics": {"name": "hostile"},
    "/v1/event-destinations": {"name": "hostile", "type": "DURABLE_CONSUMER", "topic": "hostile"},
    "/v1/event-queues": {"name": "hostile"},
    "/v1/schedules": {"name": "hostile", "queue": "hostile", "payload": {}, "everySeconds": 86_400, "enabled": False},
}
# Without a DELETE, and with names of their own rules.
ALSO_MADE = {"/v1/channel-kinds": {"name": "hostile", "documents": {"hostile": "one"}}}


@pytest.fixture
def world(api: Api) -> Api:
    offered = {(endpoint.method, endpoint.route) for endpoint in endpoints()}
    for path, body in {**MADE_BY, **ALSO_MADE}.items():
        if ("POST", path) in offered:
            made = api.post(path, body)
            assert made.status_code == 201, made.content
    # From afar: who is near may read the metrics without a token.
    api.defaults["REMOTE_ADDR"] = "203.0.113.9"
    return api


def stored() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
            # Written from memory every 15 s, by whatever pulled earlier in this process.
            " AND c.relname <> 'worker_seen'"
        )
        tables = [name for (name,) in cursor.fetchall()]
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}', count(*) FROM \"{name}\"" for name in tables))
        return dict(cursor.fetchall())


@pytest.fixture
def nothing_stored() -> Callable[[], contextlib.AbstractContextManager[None]]:
    @contextlib.contextmanager
    def watched() -> Iterator[None]:
        before = stored()
        yield
        after = stored()
        assert {name: after[name] - count for name, count in before.items() if after[name] != count} == {}

    return watched
