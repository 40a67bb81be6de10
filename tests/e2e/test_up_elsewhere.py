"""`manage.py up` with a database and a broker that it does not start itself: those on their standard ports, if any."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from tests.e2e.installation import Installation
from tests.patience import PATIENCE, until

SERVER = "postgresql://postgres@127.0.0.1:5432"
BROKERS = {"rabbitmq": "amqp://guest:guest@127.0.0.1:{}//", "redis": "redis://127.0.0.1:{}/9"}
PORTS = {"rabbitmq": 5672, "redis": 6379}

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc"),
    pytest.mark.timeout(900),
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


class Wire:
    """A way to the broker that can be cut, as a restart of the broker cuts it."""

    def __init__(self, port: int) -> None:
        self.target, self.ends = ("127.0.0.1", port), list[socket.socket]()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = self.listener.accept()[0]
                far = socket.create_connection(self.target)
                self.ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while some := one.recv(65536):
                other.sendall(some)
            other.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        ends, self.ends = self.ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self.cut()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


@pytest.mark.parametrize("broker", BROKERS)
def test_it_works_with_another_database_and_broker_and_outlives_a_cut(tmp_path, database, broker):
    if not answers(PORTS[broker]):
        pytest.skip(f"no {broker} on port {PORTS[broker]}")
    wire = Wire(PORTS[broker])
    url = BROKERS[broker].format(wire.port)
    up = Installation(tmp_path / "home", DATABASE_URL=f"{SERVER}/{database}", CELERY_BROKER_URL=url)
    try:
        up.start()
        assert up.get("/v1/audit")[0] == 200
        assert not up.postgres()
        wire.cut()
        until(up.proves_itself_anew, 2 * PATIENCE, "beat and worker work again, not only live")
        assert up.interrupt() == 0
        assert up.leaves_nothing()
    finally:
        up.kill_everything()
        wire.close()
