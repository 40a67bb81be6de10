"""`python -m gateway.server`: one process, an event loop and threads. Several may share a port (Linux) or a proxy."""

import argparse
import asyncio
import gc
import importlib
import logging
import os
import resource
import signal
import sys

import uvloop
from django.core.exceptions import ImproperlyConfigured
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server

from core import notices
from gateway.application import Gateway

SUPERVISOR_FD = "TOWPATH_SUPERVISOR_FD"
SPARE_FILES = 512
SETTLE_SECONDS = 2.0

logger = logging.getLogger("gateway.server")


def main() -> None:
    options = _options()
    try:
        gateway: Gateway = importlib.import_module("config.asgi").application
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    _raise_file_limit(gateway.limits.backpressure + SPARE_FILES)
    _spare_the_collector()
    uvloop.run(_serve(gateway, options.host, options.port))
    # Threads that are still at work are daemons and granian's own may outlive their streams: nothing more is owed to them.
    notices.flush()
    sys.stdout.flush()
    os._exit(0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="gateway.server", description=__doc__)
    parser.add_argument("--host", default=os.environ.get("TOWPATH_HOST", "127.0.0.1"))
    parser.add_argument("--port", type=int, default=int(os.environ.get("TOWPATH_PORT", "8000")))
    return parser.parse_args()


async def _serve(gateway: Gateway, host: str, port: int) -> None:
    server = Server(
        gateway,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=30_000),
        websockets=False,
        backlog=2048,
        backpressure=gateway.limits.backpressure,
        log_level=LogLevels.error,  # it tells of each start and stop, as we do
    )
    serving = asyncio.ensure_future(server.serve())
    stop = _stop_asked()
    await asyncio.wait([serving, stop], return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()
        return
    logger.info("server.stopping")
    await gateway.stop()
    server.stop()  # type: ignore[no-untyped-call]
    await asyncio.wait([serving], timeout=SETTLE_SECONDS)
    logger.info("server.stopped")


def _stop_asked() -> "asyncio.Future[None]":
    """Done on SIGTERM, SIGINT, or when the supervisor's pipe closes. A second SIGINT ends the process at once."""
    loop = asyncio.get_running_loop()
    asked: asyncio.Future[None] = loop.create_future()

    def ask(number: signal.Signals) -> None:
        if not asked.done():
            asked.set_result(None)
        elif number == signal.SIGINT:
            os._exit(130)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ask, number)
    if descriptor := os.environ.get(SUPERVISOR_FD):
        _watch_supervisor(int(descriptor), asked)
    return asked


def _watch_supervisor(descriptor: int, asked: "asyncio.Future[None]") -> None:
    loop = asyncio.get_running_loop()

    def readable() -> None:
        if os.read(descriptor, 1024):
            return
        loop.remove_reader(descriptor)
        if not asked.done():
            asked.set_result(None)

    loop.add_reader(descriptor, readable)


def _spare_the_collector() -> None:
    """What stands now stands to the end, and almost nothing that a request makes refers to itself: looking for cycles
    among it after every 700 objects took a twentieth of the process.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _raise_file_limit(wanted: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < wanted:
        logger.warning("server.few_files", extra={"limit": allowed, "wanted": wanted})


if __name__ == "__main__":
    main()
