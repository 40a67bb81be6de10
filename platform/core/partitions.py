"""Tables in partitions of a day: made ahead, dropped when old, with a default partition behind so that nothing ever fails.

Which tables, and how many days each keeps, is the setting DAY_PARTITIONS.
"""

import re
from datetime import date, timedelta

from django.conf import settings
from django.db import connection
from psycopg import sql

from core.exclusive import alone

DAYS_AHEAD = 30

_BOUND = re.compile(r"FROM \('(\d{4}-\d\d-\d\d)")


def roll() -> int:
    """Makes the missing days and drops the old ones of every table; returns how many partitions it made or dropped."""
    return sum(roll_table(table, keep) for table, keep in settings.DAY_PARTITIONS.items())


def roll_table(table: str, keep_days: int) -> int:
    """One table in one transaction; nothing when another process is at it."""
    with alone(f"partitions:{table}") as is_alone:
        if not is_alone or not _exists(table):
            return 0
        # ATTACH and DROP want the table for an instant: better late than in front of every acknowledgement.
        _execute("SET LOCAL lock_timeout = '1s'")
        today = _today()
        existing = days(table)
        wanted = [today + timedelta(days=ahead) for ahead in range(DAYS_AHEAD + 1)]
        missing = [day for day in wanted if day not in existing]
        old = {day: name for day, name in existing.items() if day < today - timedelta(days=keep_days)}
        for day in missing:
            _make(table, day)
        for name in old.values():
            _execute("DROP TABLE {name}", name=name)
        _empty_default(table, today - timedelta(days=keep_days))
        return len(missing) + len(old)


def days(table: str) -> dict[date, str]:
    """The day of each partition, with its name; the default one has none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT child.relname, pg_get_expr(child.relpartbound, child.oid) FROM pg_inherits"
            " JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = to_regclass(%s)",
            [table],
        )
        bounds = [(name, _BOUND.search(bound)) for name, bound in cursor.fetchall()]
    return {date.fromisoformat(found[1]): name for name, found in bounds if found}


def _make(table: str, day: date) -> None:
    """Makes the table aside and attaches it.

    CREATE … PARTITION OF would lock out every reader, and fails when the default partition has rows of that day.
    """
    name = f"{table}_{day:%Y%m%d}"
    _execute("CREATE TABLE {name} (LIKE {table} INCLUDING ALL)", name=name, table=table)
    bounds = {"low": sql.Literal(day), "high": sql.Literal(day + timedelta(days=1))}
    if _exists(f"{table}_default"):
        _execute(
            "WITH late AS (DELETE FROM {default} WHERE {key} >= {low} AND {key} < {high} RETURNING *)"
            " INSERT INTO {name} SELECT * FROM late",
            name=name,
            default=f"{table}_default",
            key=_key(table),
            **bounds,
        )
    _execute(
        "ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({low}) TO ({high})", table=table, name=name, **bounds
    )


def _empty_default(table: str, before: date) -> None:
    if _exists(f"{table}_default"):
        _execute(
            "DELETE FROM {default} WHERE {key} < {before}",
            default=f"{table}_default",
            key=_key(table),
            before=sql.Literal(before),
        )


def _key(table: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_partkeydef(to_regclass(%s))", [table])
        definition: str = cursor.fetchone()[0]
    return definition.removeprefix("RANGE (").removesuffix(")").strip('"')


def _exists(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [table])
        return bool(cursor.fetchone()[0])


def _today() -> date:
    with connection.cursor() as cursor:
        cursor.execute("SELECT (statement_timestamp() AT TIME ZONE 'UTC')::date")
        today: date = cursor.fetchone()[0]
    return today


def _execute(text: str, **parts: str | sql.Composable) -> None:
    """DDL takes no parameters: names are quoted as identifiers, values as literals."""
    quoted = {name: sql.Identifier(part) if isinstance(part, str) else part for name, part in parts.items()}
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(text).format(**quoted))
