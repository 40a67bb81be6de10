"""A stop is quick and gentle: waits get their empty answer, streams end, requests in flight finish."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable

import pytest

from tests.gateway.crowd import LONG, Reply, ask
from tests.gateway.test_streams import open_stream
from tests.gateway.test_waits import waiters
from tests.patience import PATIENCE, eventually, until
from tests.serving import Server

Calls = Callable[[], int]


def test_a_stop_ends_waits_streams_and_requests_in_their_own_way(database_url: str, key: str, calls: Calls) -> None:
    """The wait would last longer than a stop may: it is ended, and not by its deadline."""
    with Server(database_url, "tests.gateway.settings") as server:

        async def scene() -> tuple[Reply, bytes, Reply]:
            [waiting] = await waiters(server, key, 1)
            reader, writer = await open_stream(server, f"/v1/live?key={key}")
            await reader.readuntil(b": joined\n\n")
            holding = asyncio.ensure_future(ask(server, f"GET /v1/slow/hold?key={key}&seconds=2"))
            await eventually(lambda: calls() == 2)
            await asyncio.to_thread(server.stop)
            rest = await reader.read()
            writer.close()
            return await waiting, rest, await holding

        waited, streamed, held = asyncio.run(scene())
    assert (waited.status, held.status, held.body) == (204, 200, b"held")
    assert streamed.endswith(b"0\r\n\r\n")  # the stream ended as it should, not in the middle
    assert server.process.returncode == 0


def test_a_request_that_hangs_holds_up_a_stop_only_so_long(database_url: str, key: str, calls: Calls) -> None:
    with Server(database_url, "tests.gateway.settings", TOWPATH_STOP_SECONDS="1") as server:
        hanging = threading.Thread(target=_ignore_end, args=(server, f"/v1/slow/hold?key={key}&seconds={2 * LONG}"))
        hanging.start()
        until(lambda: calls() == 1)
        server.stop(signal.SIGINT)
        hanging.join(PATIENCE)
        assert not hanging.is_alive()


def test_the_end_of_the_supervisors_pipe_ends_the_server(database_url: str) -> None:
    ours, theirs = os.pipe()
    os.set_inheritable(ours, True)
    server = Server(database_url, "tests.gateway.settings", TOWPATH_SUPERVISOR_FD=str(ours))
    server.start(pass_fds=[ours])
    os.close(ours)
    assert server.process.poll() is None
    os.close(theirs)
    assert server.process.wait(PATIENCE) == 0
    server.stop()


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="processes share a port by SO_REUSEPORT")
def test_several_processes_share_a_port(database_url: str) -> None:
    with (
        Server(database_url, "tests.gateway.settings") as first,
        Server(database_url, "tests.gateway.settings", port=first.port) as second,
    ):
        for _ in range(40):
            assert first.get("/v1/slow/echo").status == 200
        second.stop()
        for _ in range(10):
            assert first.get("/v1/slow/echo").status == 200
        assert all("/v1/slow/echo" in server.log() for server in (first, second))


def _ignore_end(server: Server, path: str) -> None:
    try:
        server.get(path)
    except OSError:
        pass
