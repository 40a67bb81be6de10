"""A dump back into an installation that holds nothing yet: all of it or nothing, and only by the version that wrote it."""

import json
from pathlib import Path
from typing import Any

import zstandard
from django.conf import settings
from django.db import connection, transaction
from psycopg import sql

from apps.console.operations.dump import FORMAT, NOT_DUMPED, migrations, tables_to_dump, without_limits, write_private
from apps.topics.cold import store

# Beside what a first run makes: whoever has any of these would lose it.
MUST_BE_EMPTY = ("topic", "queue", "channel", "destination", "schedule")
BLOCK = 1024 * 1024


class NotRestored(Exception):
    """Nothing was changed; the message says why."""


def restore(folder: Path) -> dict[str, Any]:
    """Returns the manifest. Raises NotRestored, StoreFailed."""
    manifest = _manifest(folder)
    with transaction.atomic():
        without_limits()
        _check(manifest)
        for path in sorted(path for path in (folder / "cold").rglob("*") if path.is_file()):
            store.put_if_absent(path.relative_to(folder / "cold").as_posix(), path.read_bytes())
        _empty()
        for name, table in manifest["tables"].items():
            _fill(folder / "tables" / f"{name}.copy.zst", name, table)
        _set_sequences(manifest["sequences"])
    for path in (folder / "home").iterdir():
        (settings.HOME / path.name).unlink(missing_ok=True)
        write_private(settings.HOME / path.name, path.read_bytes())
    return manifest


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError):
        raise NotRestored(f"{folder} holds no complete dump: there is no manifest.json in it.") from None
    if manifest.get("format") != FORMAT:
        raise NotRestored("This dump has another format.")
    return manifest


def _check(manifest: dict[str, Any]) -> None:
    if manifest["migrations"] != migrations():
        raise NotRestored("Another version of Towpath wrote this dump: restore it with that one, and upgrade then.")
    with connection.cursor() as cursor:
        for name in MUST_BE_EMPTY:
            cursor.execute(sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(name)))
            if cursor.fetchone()[0]:
                raise NotRestored(f"This installation is not empty: it has a {name}.")


def _empty() -> None:
    names = [sql.Identifier(name) for name in tables_to_dump() if name not in NOT_DUMPED]
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(names)))


def _fill(path: Path, name: str, table: dict[str, Any]) -> None:
    columns = sql.SQL(", ").join(map(sql.Identifier, table["columns"]))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(name), columns)
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as unpacked:
        with connection.connection.cursor() as cursor:
            with cursor.copy(statement) as copy:
                while block := unpacked.read(BLOCK):
                    copy.write(block)
            if cursor.rowcount != table["rows"]:
                raise NotRestored(f"{name}: {cursor.rowcount} rows instead of {table['rows']}.")


def _set_sequences(sequences: dict[str, int]) -> None:
    with connection.cursor() as cursor:
        for name, value in sequences.items():
            cursor.execute("SELECT setval(quote_ident(%s)::regclass, %s)", [name, value])
