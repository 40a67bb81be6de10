"""A stop is quick and gentle: waits get their empty answer, streams end, requests in flight finish."""

import asyncio
import os
import signal
import threading

import pytest

from tests.gateway.crowd import Reply
from tests.gateway.test_streams import open_stream
from tests.gateway.test_waits import ask, until, waiter
from tests.serving import Server


def test_a_stop_ends_waits_streams_and_requests_in_their_own_way(database_url: str, key: str) -> None:
    with Server(database_url, "tests.gateway.settings") as server:

        async def scene() -> tuple[float, Reply, bytes, Reply]:
            waiting = waiter(server, key, 30)
            reader, writer = await open_stream(server, f"/v1/live?key={key}")
            holding = asyncio.ensure_future(ask(server, "GET /v1/slow/hold?seconds=1"))
            await asyncio.sleep(0.3)
            took = await asyncio.to_thread(server.stop)
            rest = await reader.read()
            writer.close()
            return took, await waiting, rest, await holding

        took, waited, streamed, held = asyncio.run(scene())
    assert (waited.status, held.status, held.body) == (204, 200, b"held")
    assert streamed.endswith(b"0\r\n\r\n")  # the stream ended as it should, not in the middle
    assert 0.5 < took < 5 and server.process.returncode == 0


def test_a_request_that_hangs_holds_up_a_stop_only_so_long(database_url: str) -> None:
    with Server(database_url, "tests.gateway.settings", TOWPATH_STOP_SECONDS="1") as server:
        hanging = threading.Thread(target=_ignore_end, args=(server, "/v1/slow/hold?seconds=20"))
        hanging.start()
        _until_open(server)
        assert server.stop(signal.SIGINT) < 5
        hanging.join(5)


def test_the_end_of_the_supervisors_pipe_ends_the_server(database_url: str) -> None:
    ours, theirs = os.pipe()
    os.set_inheritable(ours, True)
    server = Server(database_url, "tests.gateway.settings", TOWPATH_SUPERVISOR_FD=str(ours))
    server.start(pass_fds=[ours])
    os.close(ours)
    assert server.process.poll() is None
    os.close(theirs)
    assert server.process.wait(5) == 0
    server.stop()


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="processes share a port by SO_REUSEPORT")
def test_several_processes_share_a_port(database_url: str) -> None:
    with (
        Server(database_url, "tests.gateway.settings") as first,
        Server(database_url, "tests.gateway.settings", port=first.port) as second,
    ):
        for _ in range(40):
            assert first.get("/v1/slow/echo").status == 200
        assert second.stop() < 5
        for _ in range(10):
            assert first.get("/v1/slow/echo").status == 200
        assert all("/v1/slow/echo" in server.log() for server in (first, second))


def _ignore_end(server: Server, path: str) -> None:
    try:
        server.get(path)
    except OSError:
        pass


def _until_open(server: Server) -> None:
    asyncio.run(until(lambda: server.get("/healthz").status == 200))
    asyncio.run(asyncio.sleep(0.3))
