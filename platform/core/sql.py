"""Hot statements: each in its own .sql file, prepared, bound on the server, several in one round trip.

Statements of one `run` outside a transaction are one implicit transaction (no BEGIN): locks taken by the first hold until
the last, and each statement sees a fresh snapshot. Inside transaction.atomic they join it. Arrays are bound with %b.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from core.round_trip import Link, Query
from core.round_trip import Row as Row


@dataclass(frozen=True)
class Statement:
    path: Path
    text: str

    @cached_property
    def query(self) -> Query:
        return Query(self.text)


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
        if not isinstance(error.__cause__, _STALE) or connection.in_atomic_block:
            raise
        _link(connections[DEFAULT_DB_ALIAS]).forget()
        return _run(calls)


# A migration changed a table under a live process; or somebody between us and the server has thrown away what was prepared.
_STALE = (psycopg.errors.FeatureNotSupported, psycopg.errors.InvalidSqlStatementName)


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
    database = connections[DEFAULT_DB_ALIAS]
    if database.connection is None or database.in_atomic_block:
        return
    if database.connection.closed or _link(database).is_readable():
        database.close()


def _run(calls: Sequence[tuple[Statement, Mapping[str, Any]]]) -> list[list[Row]]:
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    with database.wrap_database_errors:
        return _link(database).run([(statement.query, values) for statement, values in calls])


def _link(database: BaseDatabaseWrapper) -> Link:
    link: Link | None = vars(database).get("towpath_link")
    if link is None or link.raw is not database.connection:
        link = vars(database)["towpath_link"] = Link(database.connection)
    return link
