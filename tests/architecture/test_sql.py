"""Hot statements as text: header, one statement, used once, and only tables the app may touch."""

import re

import pytest
from django.apps import apps as installed

from tests.architecture.sources import APPS, LAYERS, ROOT, SqlFile, modules, sql_files

HEADER = (r"-- does: \S.*", r"-- locks: \S.*", r"-- index: \S.*")
WRITTEN = re.compile(
    r"\b(?:INSERT\s+INTO|(?<!FOR )(?<!KEY )UPDATE|DELETE\s+FROM|MERGE\s+INTO)\s+(?:ONLY\s+)?([a-z_]+)", re.IGNORECASE
)
READ = re.compile(r"\b(?:FROM|JOIN|USING)\s+(?:ONLY\s+)?([a-z_]+)\b(?!\s*\()", re.IGNORECASE)
MAY_ALSO_WRITE = {"leases": {"cursor"}}

FILES = sql_files()
each = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)


def owners() -> dict[str, str]:
    """Table → app: from the models, and from CREATE TABLE in the migrations."""
    found = {model._meta.db_table: model._meta.app_label for model in installed.get_models() if model._meta.managed}
    for path in (ROOT / "apps").glob("*/migrations/*.py"):
        for name in re.findall(
            r"CREATE TABLE (?:IF NOT EXISTS )?([a-z_]+)\b(?! PARTITION OF)", path.read_text(), re.IGNORECASE
        ):
            found[name.lower()] = path.parent.parent.name
    return {table: app for table, app in found.items() if app in APPS}


def rank(app: str) -> int:
    return next((index for index, layer in enumerate(LAYERS) if app in layer), len(LAYERS))


def trespasses(file: SqlFile, owner: dict[str, str]) -> list[str]:
    """What the statement does to tables that are not its app's to touch."""
    wrong = []
    for table in {name.lower() for name in WRITTEN.findall(file.body)} & owner.keys():
        if owner[table] != file.app and table not in MAY_ALSO_WRITE.get(file.app, set()):
            wrong.append(f"writes {table} of {owner[table]}")
    for table in {name.lower() for name in READ.findall(file.body)} & owner.keys():
        if owner[table] != file.app and rank(owner[table]) <= rank(file.app):
            wrong.append(f"reads {table} of {owner[table]}, which is not below")
    return wrong


@each
def test_it_says_in_three_lines_what_it_does_what_it_locks_and_which_index_it_needs(file):
    assert all(re.fullmatch(pattern, line) for pattern, line in zip(HEADER, file.header, strict=True)), file.header


@each
def test_it_is_one_statement_without_semicolon_star_or_clock_of_another_kind(file):
    assert ";" not in file.body
    assert not re.search(r"\bSELECT\s+\*", file.body, re.IGNORECASE)
    assert not re.search(
        r"\b(clock_timestamp|now|transaction_timestamp|timeofday)\s*\(|current_timestamp", file.body, re.IGNORECASE
    )


@each
def test_it_is_bound_exactly_once(file):
    bound = rf'sql\.statement\(__file__, "{file.path.stem}"\)'
    users = [
        path for path in modules() if file.path.parent.parent in path.parents
        for _ in re.findall(bound, path.read_text()) if path.parent == file.path.parent.parent
        or path.parent.parent == file.path.parent.parent
    ]  # fmt: skip
    assert len(users) == 1


@each
def test_it_touches_only_tables_of_its_own_app_and_reads_those_below(file):
    assert trespasses(file, owners()) == []


def test_a_trespass_is_seen():
    above, foreign = "SELECT id FROM destination", "WITH x AS (SELECT 1) UPDATE event SET body = ''"
    owner = {"destination": "destinations", "event": "topics"}
    at = ROOT / "apps" / "leases" / "sql" / "bad.sql"
    assert trespasses(SqlFile(at, above), owner) == ["reads destination of destinations, which is not below"]
    assert trespasses(SqlFile(at, foreign), owner) == ["writes event of topics"]
    assert trespasses(SqlFile(at, "SELECT id FROM event FOR UPDATE OF event"), owner) == []
