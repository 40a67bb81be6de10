"""A dead or half-open wake-up connection is noticed, replaced, and what was missed meanwhile is made up for."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.gateway.crowd import listening
from tests.gateway.test_waits import answered, waiters
from tests.patience import eventually
from tests.serving import Server

Sql = Callable[..., list[tuple[Any, ...]]]
Add = Callable[..., None]

KILL = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'towpath listener'"""


def test_waking_works_again_soon_after_the_connection_was_killed(toy_server: Server, sql: Sql, add: Add, key: str) -> None:
    async def scene() -> list[int]:
        await eventually(lambda: listening(toy_server))
        waiting = await waiters(toy_server, key, 1)
        # Servers of other tests may listen on this database too.
        assert sql(KILL)[0][0] >= 1
        add(notify=False)  # its notice falls into the gap: nobody hears it
        first = await answered(*waiting)
        await eventually(lambda: listening(toy_server))
        fresh = await waiters(toy_server, key, 1)
        add()
        return first + await answered(*fresh)

    assert asyncio.run(scene()) == [200, 200]


class Pipe:
    """A TCP proxy before PostgreSQL that can swallow everything, as a firewall that forgot the connection does."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self.swallow = threading.Event()
        self.refuse = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._closed = threading.Event()
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            if self.refuse.is_set():
                client.close()
                continue
            server = socket.create_connection(self._target)
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(65_536):
                if self.swallow.is_set():
                    self._closed.wait()
                    break
                sink.sendall(part)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)  # close() alone would not wake the thread that reads from it
            end.close()

    def close(self) -> None:
        self._closed.set()
        self._socket.close()


@pytest.fixture
def pipe(database_url: str) -> Iterator[Pipe]:
    parts = conninfo_to_dict(database_url)
    pipe = Pipe(str(parts["host"]), int(str(parts["port"] or 5432)))
    yield pipe
    pipe.close()


def test_a_connection_that_swallows_everything_is_noticed(pipe: Pipe, database_url: str, add: Add, key: str) -> None:
    """Nothing tells the listener: no reset, no end of file. Its own notice that does not come back does."""
    through = make_conninfo(database_url, host="127.0.0.1", port=pipe.port)
    with Server(database_url, "tests.gateway.settings", TOWPATH_LISTEN_URL=through, TOWPATH_PROOF_SECONDS="1") as server:

        async def scene() -> list[int]:
            await eventually(lambda: listening(server))
            pipe.swallow.set()
            await eventually(lambda: not listening(server))
            pipe.swallow.clear()
            await eventually(lambda: listening(server))
            waiting = await waiters(server, key, 1)
            add()
            return await answered(*waiting)

        assert asyncio.run(scene()) == [200]
