"""Sessions of the database at once: threads with connections of their own, and a session with its hand on a row."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection, connections


def at_once(*steps: Callable[[], Any]) -> list[Any]:
    """Each step in a thread with a connection of its own, all let loose together; their results, or what they raised."""
    start = threading.Barrier(len(steps))

    def run(step: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
            start.wait()
            return step()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(steps)) as pool:
        return list(pool.map(run, steps))


@contextmanager
def in_background(step: Callable[[], Any]) -> Iterator[Future[Any]]:
    """The step in a thread of its own, while the block goes on; waits for it at the end."""

    def run() -> Any:
        try:
            return step()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(run)


@contextmanager
def session(**options: Any) -> Iterator[psycopg.Connection[Any]]:
    """Another session in a transaction, rolled back unless it commits."""
    parameters = {
        k: v for k, v in connection.get_connection_params().items() if k in ("dbname", "user", "password", "host", "port")
    }
    with psycopg.connect(**parameters, **options) as other:
        yield other
        other.rollback()


def waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(cursor.fetchone()[0])
