"""The whole installation as a folder: every table as of one instant, every segment it names, and the secrets of HOME.

By COPY, not pg_dump: that program comes with a server, and the embedded one is only a server.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zstandard
from django.conf import settings
from django.db import connection, transaction
from psycopg import sql

from apps.topics.cold import store
from apps.topics.operations.expire import keep_objects

FORMAT = "towpath-dump/1"
HOME_FILES = ("secret-key", "api-key", "admin-password")
# What a restore gets from its own migrations.
NOT_DUMPED = {"django_migrations", "django_content_type", "auth_permission"}

# Of a deleted topic some segments may be left in the index, and their objects are on their way out.
OBJECTS = """
SELECT s.locator FROM segment AS s JOIN topic AS t ON t.id = s.topic_id WHERE s.forgotten_at IS NULL ORDER BY s.locator
"""
TABLES = """
SELECT c.relname, array_agg(a.attname ORDER BY a.attnum)::text[]
FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
GROUP BY c.relname ORDER BY c.relname
"""
SEQUENCES = "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL"


def dump(folder: Path) -> dict[str, Any]:
    """Into a folder that is not there yet or empty; returns the manifest, which is written last. Raises StoreFailed."""
    for part in ("tables", "cold", "home"):
        (folder / part).mkdir(mode=0o700, parents=True)
    with one_instant():
        keep_objects()
        objects = _copy_objects(folder / "cold")
        tables = {name: _copy_table(folder / "tables", name, columns) for name, columns in tables_to_dump().items()}
        manifest = {
            "format": FORMAT,
            "migrations": migrations(),
            "tables": tables,
            "sequences": dict(_rows(SEQUENCES)),
            "objects": objects,
        }
    for name in HOME_FILES:
        if (settings.HOME / name).exists():
            write_private(folder / "home" / name, (settings.HOME / name).read_bytes())
    write_private(folder / "manifest.json", json.dumps(manifest, indent=2).encode())
    return manifest


@contextmanager
def one_instant() -> Iterator[None]:
    """A transaction that sees one instant for as long as it takes."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        without_limits()
        yield


def without_limits() -> None:
    """For the rest of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
        if connection.connection.info.server_version >= 170_000:
            cursor.execute("SET LOCAL transaction_timeout = 0")


def tables_to_dump() -> dict[str, list[str]]:
    """With the columns of each."""
    return {name: columns for name, columns in _rows(TABLES) if name not in NOT_DUMPED}


def migrations() -> list[str]:
    return [f"{app}.{name}" for app, name in _rows("SELECT app, name FROM django_migrations ORDER BY app, name")]


def write_private(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def _copy_table(folder: Path, name: str, columns: list[str]) -> dict[str, Any]:
    statement = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(name)
    )
    rows = 0
    with (folder / f"{name}.copy.zst").open("wb") as file, zstandard.ZstdCompressor(3).stream_writer(file) as packed:
        with connection.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for block in copy:
                rows += bytes(block).count(b"\n")
                packed.write(block)
    return {"columns": columns, "rows": rows}


def _copy_objects(folder: Path) -> int:
    names = [name for (name,) in _rows(OBJECTS)]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(store.get(name))
    return len(names)


def _rows(text: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(text)
        return list(cursor.fetchall())
