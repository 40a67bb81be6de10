"""Decisions are one page each, numbered, complete, and all in the index."""

import importlib.util

import pytest

from tests.architecture.sources import ROOT
from tests.architecture.test_sql import owners

spec = importlib.util.spec_from_file_location("decisions", ROOT / ".ci" / "decisions.py")
decisions = importlib.util.module_from_spec(spec)
spec.loader.exec_module(decisions)


def test_the_index_is_the_generated_one():
    assert (ROOT / "docs" / "decisions" / "README.md").read_text() == decisions.index()


def test_numbers_are_given_once():
    numbers = [path.stem[:4] for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md")]
    assert sorted(set(numbers)) == sorted(numbers)


def test_a_page_is_one_page():
    for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md"):
        assert len(path.read_text().splitlines()) <= 70, path.name


@pytest.mark.parametrize(
    ("name", "text", "lacking"),
    [
        ("0001-x.md", "# 0002 Wrong number\n\nStatus: accepted\n", "first line"),
        ("0001-x.md", "# 0001 No status\n", "Status"),
        ("0001-x.md", "# 0001 No sections\n\nStatus: accepted\n\n## Context\n", "sections"),
    ],
)
def test_a_page_that_cannot_be_parsed_is_refused(tmp_path, name, text, lacking):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=lacking):
        decisions.index(tmp_path)


def test_the_map_of_tables_is_complete():
    text = (ROOT / "docs" / "architecture.md").read_text()
    assert [table for table in owners() if f"`{table}`" not in text and not table.endswith("_default")] == []
