"""`manage.py up` with a database and a broker that it does not start itself: those on their standard ports, if any."""

import socket
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from tests.e2e.installation import Installation, until

SERVER = "postgresql://postgres@127.0.0.1:5432"
BROKERS = {"rabbitmq": "amqp://guest:guest@127.0.0.1:5672//", "redis": "redis://127.0.0.1:6379/9"}
PORTS = {"rabbitmq": 5672, "redis": 6379}

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc"),
    pytest.mark.timeout(240),
]


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def database() -> Iterator[str]:
    """The name of one that does not exist yet."""
    try:
        server = psycopg.connect(f"{SERVER}/postgres", autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL for the user postgres on port 5432: {error}")
    name = f"towpath_{uuid4().hex[:8]}"
    with server:
        yield name
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.mark.parametrize("broker", BROKERS)
def test_it_works_with_another_database_and_broker(tmp_path, database, broker):
    if not answers(PORTS[broker]):
        pytest.skip(f"no {broker} on port {PORTS[broker]}")
    up = Installation(tmp_path / "home", DATABASE_URL=f"{SERVER}/{database}", CELERY_BROKER_URL=BROKERS[broker])
    try:
        up.start()
        assert up.get("/v1/audit")[0] == 200
        until(lambda: up.get("/readyz")[0] == 200, 40, "beat proves itself through the broker")
        assert not up.postgres()
        assert up.interrupt() == 0
        assert up.leaves_nothing()
    finally:
        up.kill_everything()
