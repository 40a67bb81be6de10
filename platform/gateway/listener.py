"""One connection that LISTENs, proves itself by hearing its own NOTIFY, and comes back when it is lost or half-open."""

import asyncio
import logging
import os
import time
from typing import Any

import psycopg
from django.db import connection

from core import notices
from core.metrics import LISTEN_UP, NOTIFY_ROUND_TRIP
from core.waits import listening
from gateway.hub import Hub

MAX_PAUSE_SECONDS = 5.0
ECHO_PREFIX = "echo:"
KEEPALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}

Connection = psycopg.AsyncConnection[tuple[Any, ...]]

logger = logging.getLogger(__name__)


class Deaf(Exception):
    """The connection looks open, but our own notice did not come back."""


class Listener:
    def __init__(self, hub: Hub, url: str, proof_seconds: float) -> None:
        self._hub = hub
        self._url = url
        self._proof_seconds = proof_seconds
        self._echo = f"{ECHO_PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
        self._asked_at: float | None = None
        self._pause = 0.1

    async def run(self) -> None:
        """For ever: listen, and after a loss try again with growing pauses. The log tells once of each loss."""
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError, TimeoutError, Deaf) as error:
                self._lose(error)
            await asyncio.sleep(self._pause)
            self._pause = min(self._pause * 2, MAX_PAUSE_SECONDS)

    async def _listen(self) -> None:
        async with await self._connect() as link:
            await link.execute(f"LISTEN {notices.CHANNEL}")
            link.add_notify_handler(lambda notice: self._hear(notice.payload))
            while True:
                await self._prove(link)
                await self._listen_for(link, self._proof_seconds)

    async def _listen_for(self, link: Connection, seconds: float) -> None:
        """As psycopg's notifies(), which sets up and takes down a wait for each notice: they come every 5 ms under load."""
        loop, lost = asyncio.get_running_loop(), asyncio.Event()

        def readable() -> None:
            try:
                link.pgconn.consume_input()
                while notice := link.pgconn.notifies():
                    self._hear(notice.extra.decode())
            except psycopg.Error:
                loop.remove_reader(descriptor)
                lost.set()

        descriptor = link.fileno()
        loop.add_reader(descriptor, readable)
        try:
            await asyncio.wait_for(lost.wait(), seconds)
            raise psycopg.OperationalError("the server has hung up")
        except TimeoutError:
            return
        finally:
            loop.remove_reader(descriptor)

    async def _connect(self) -> Connection:
        # The password never shows: parameters go to libpq as they are, and errors name host and port only.
        parameters = (
            {"conninfo": self._url} if self._url else notices.connection_parameters(connection.get_connection_params())
        )
        return await psycopg.AsyncConnection.connect(
            **{**parameters, **KEEPALIVE, "connect_timeout": 5, "application_name": "towpath listener"}, autocommit=True
        )

    async def _prove(self, link: Connection) -> None:
        """Sends a notice to itself; the one sent a round ago must have come."""
        if self._asked_at is not None:
            raise Deaf("the last proof was not heard")
        self._asked_at = time.monotonic()
        asking = asyncio.ensure_future(link.execute("SELECT pg_notify(%s, %s)", (notices.CHANNEL, f"{self._echo}=0")))
        await asyncio.wait([asking], timeout=self._proof_seconds)
        if not asking.done():
            # Closed first: psycopg would ask a server that does not answer to cancel, and wait for that.
            link.pgconn.finish()
            asking.cancel()
            raise Deaf("the server does not answer")
        asking.result()

    def _hear(self, payload: str) -> None:
        for key, count in notices.parse(payload):
            if key == self._echo:
                self._proven()
            elif not key.startswith(ECHO_PREFIX):
                self._hub.notify(key, count)

    def _proven(self) -> None:
        if self._asked_at is not None:
            NOTIFY_ROUND_TRIP.observe(time.monotonic() - self._asked_at)
        self._asked_at = None
        self._pause = 0.1
        if not listening.alive:
            listening.alive = True
            LISTEN_UP.set(1)
            self._hub.hear_again()
            logger.info("listener.up")

    def _lose(self, error: BaseException) -> None:
        self._asked_at = None
        LISTEN_UP.set(0)
        if listening.alive is not False:
            logger.warning("listener.lost", extra={"reason": str(error).split("\n")[0]})
            listening.alive = False
            self._hub.hear_nothing()
