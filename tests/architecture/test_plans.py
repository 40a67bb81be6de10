"""Every hot statement planned on the migrated schema, by the plan that a prepared statement gets for ever after."""

import json
import re

import pytest
from django.db import connection

from tests.architecture.sources import ROOT, SqlFile, sql_files

pytestmark = pytest.mark.django_db

VOLATILE = re.compile(r"\b(clock_timestamp|now|timeofday|random)\(")
PARAMETER = re.compile(r"%\((\w+)\)[sbt]")
CONDITIONS = ("Filter", "Index Cond", "Recheck Cond", "Join Filter", "Hash Cond", "TID Cond")


def plan(text: str) -> list[dict]:
    """Nodes of the generic plan. With NULLs planned in, it would fold to `One-Time Filter: false` and show nothing."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    text = PARAMETER.sub(number, text).replace("%%", "%")
    arguments = f"({', '.join(['NULL'] * len(names))})" if names else ""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        # On empty tables these are cheap; what is asked here is whether an index serves every lookup.
        for kind in ("seqscan", "bitmapscan", "mergejoin", "hashjoin"):
            cursor.execute(f"SET LOCAL enable_{kind} = off")
        cursor.execute(f"PREPARE examined AS {text}")
        cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE examined{arguments}")
        answer = cursor.fetchone()[0]
        cursor.execute("DEALLOCATE examined")
    tree = answer if isinstance(answer, list) else json.loads(answer)
    return list(nodes(tree[0]["Plan"], False))


def nodes(node: dict, limited: bool):
    """The tree flattened; each node knows whether a LIMIT stands directly above it."""
    yield {**node, "limited": limited}
    passes = node["Node Type"] in ("Limit", "LockRows", "Append", "Merge Append", "Result", "Subquery Scan")
    for child in node.get("Plans", []):
        yield from nodes(child, node["Node Type"] == "Limit" or (limited and passes))


def faults(file: SqlFile) -> list[str]:
    found = []
    needs_no_index = re.match(r"-- index: none\b", file.header[2])
    for node in plan(file.text):
        conditions = " ".join(str(node.get(name, "")) for name in CONDITIONS)
        if "Relation Name" in node and VOLATILE.search(conditions):
            found.append(f"a volatile time in a scan of {node['Relation Name']}: {conditions}")
        # With sequential scans off, a table without a fitting index is read through any index from end to end.
        whole = node["Node Type"] in ("Index Scan", "Index Only Scan") and "Index Cond" not in node and not node["limited"]
        if (whole or node["Node Type"] == "Seq Scan") and not needs_no_index:
            found.append(f"no index fits for {node['Relation Name']}")
    return found


@pytest.mark.parametrize("file", sql_files(), ids=lambda file: file.name)
def test_it_finds_its_rows_by_an_index_and_compares_no_volatile_time(file):
    if faults(file):
        # Earlier tests may have left a table analysed while it held next to nothing: one page is read whole by any plan.
        forget_sizes()
    assert faults(file) == []


def forget_sizes() -> None:
    """Makes every table one that was never measured, until the test's transaction is rolled back."""
    with connection.cursor() as cursor:
        tables = ", ".join(connection.ops.quote_name(name) for name in connection.introspection.table_names(cursor))
        cursor.execute(f"TRUNCATE {tables} CASCADE")


def bad(text: str) -> list[str]:
    return faults(SqlFile(ROOT / "apps" / "leases" / "sql" / "bad.sql", "-- does: x\n-- locks: x\n-- index: x\n" + text))


def test_the_test_itself_can_fail():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE examined_rows (owner int, at timestamptz, PRIMARY KEY (owner, at))")
    good = "SELECT owner FROM examined_rows WHERE owner = %(owner)s AND at <= {}"
    assert bad(good.format("statement_timestamp()")) == []
    assert "volatile time" in bad(good.format("clock_timestamp()"))[0]
    assert bad("SELECT owner FROM examined_rows WHERE owner + 1 = %(next)s") == ["no index fits for examined_rows"]
    assert bad("SELECT owner FROM examined_rows ORDER BY owner LIMIT 1") == []
