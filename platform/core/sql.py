"""Hot statements: each in its own .sql file, prepared, bound on the server, several in one round trip.

Statements of one `run` outside a transaction are one implicit transaction (no BEGIN): locks taken by the first hold until
the last, and each statement sees a fresh snapshot. Inside transaction.atomic they join it. Arrays are bound with %b.
"""

import select
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection
from psycopg import _queries

# psycopg parses a text over 4,096 characters anew for each call (100 µs for the pull); ours are few and never change.
_queries.MAX_CACHED_STATEMENT_LENGTH = 65_536

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Statement:
    path: Path
    text: str


def statement(module_file: str, name: str) -> Statement:
    """The statement in the app's `sql/<name>.sql`; a missing file stops the process at import."""
    beside, above = (folder / "sql" / f"{name}.sql" for folder in Path(module_file).parents[:2])
    path = beside if beside.exists() else above  # above: from a module of a package such as operations/
    return Statement(path, path.read_text())


def run(*calls: tuple[Statement, Mapping[str, Any]]) -> list[list[Row]]:
    """Runs the statements in one round trip and returns the rows of each.

    Raises django.db errors, whose cause is psycopg's; core.http turns lock and statement time-outs into 503.
    """
    try:
        return _run(calls)
    except Exception as error:
        leave_read_only(error)
        # A migration changed a table under a live process: plans of this connection are stale once.
        if not isinstance(error.__cause__, psycopg.errors.FeatureNotSupported) or connection.in_atomic_block:
            raise
        connection.connection.execute("DEALLOCATE ALL")
        connection.connection._prepared.clear()
        return _run(calls)


def leave_read_only(error: Exception) -> None:
    """Lets go of a connection that may not write: after a failover the next one leads to the new primary, this one never."""
    if isinstance(error.__cause__, psycopg.errors.ReadOnlySqlTransaction):
        connection.close()


def database_time() -> datetime:
    """What time it is for whoever decides by it: the clock of a process is not asked."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


def ensure_alive() -> None:
    """Connects, or connects again where the server has hung up since the last use: then a failure later on is news."""
    drop_if_hung_up()
    connection.ensure_connection()


def drop_if_hung_up() -> None:
    """Lets go of a connection that the server has ended since its last use, as its restart does to all at once.

    Outside a transaction the server sends nothing unasked but its farewell, so a readable socket is a dead one. Costs no
    round trip.
    """
    if connection.connection is None or connection.in_atomic_block:
        return
    if connection.connection.closed or _readable(connection.connection.fileno()):
        connection.close()


def _readable(descriptor: int) -> bool:
    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    return bool(ready.poll(0))


def _run(calls: tuple[tuple[Statement, Mapping[str, Any]], ...]) -> list[list[Row]]:
    connection.ensure_connection()
    raw = connection.connection
    with connection.wrap_database_errors:
        if len(calls) == 1:
            return [_rows(_execute(raw, calls[0]))]
        with raw.pipeline():
            cursors = [_execute(raw, call) for call in calls]
        return [_rows(cursor) for cursor in cursors]


def _execute(raw: psycopg.Connection[Row], call: tuple[Statement, Mapping[str, Any]]) -> psycopg.Cursor[Row]:
    cursor = psycopg.Cursor(raw)
    return cursor.execute(call[0].text, call[1], prepare=True)


def _rows(cursor: psycopg.Cursor[Row]) -> list[Row]:
    # rownumber is None without a result; `description` would say the same, but builds an object for every column.
    return cursor.fetchall() if cursor.rownumber is not None else []
