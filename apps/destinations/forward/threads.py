"""Work on the database, off the event loop, on connections that are made anew when they were lost."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from django.db import DatabaseError, InterfaceError, connection

from core import sql

Answer = TypeVar("Answer")


class Threads:
    """Turns are taken in the order of asking: that is the fairness over destinations."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._pool = ThreadPoolExecutor(number, thread_name_prefix="forward")

    async def run(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._pool, _connected, work, *arguments)

    def close(self) -> None:
        """Every thread says goodbye to the database; each takes one of the calls, since they wait for each other."""
        all_here = threading.Barrier(self._number)
        for _ in range(self._number):
            self._pool.submit(_disconnected, all_here)
        self._pool.shutdown(wait=True)


def _disconnected(all_here: threading.Barrier) -> None:
    connection.close()
    with suppress(threading.BrokenBarrierError):
        all_here.wait(1)


def _connected(work: Callable[..., Answer], *arguments: Any) -> Answer:
    try:
        sql.ensure_alive()
        return work(*arguments)
    except (InterfaceError, DatabaseError):
        connection.close()
        raise
