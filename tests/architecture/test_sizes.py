"""Small enough to be read at once: files, functions, views and tasks."""

import ast
import statistics
from pathlib import Path

from tests.architecture.sources import functions, lines_of, modules, where

FILE, FUNCTION, VIEW, TASK = 400, 40, 15, 10


def too_long(paths: list[Path], limit: int) -> list[str]:
    return [where(path, node) for path in paths for node in functions(path) if lines_of(node) > limit]


def test_no_file_is_longer_than_can_be_read():
    assert [str(path) for path in modules() if len(path.read_text().splitlines()) > FILE] == []


def test_functions_are_short_and_most_very_short():
    lengths = sorted(lines_of(node) for path in modules() for node in functions(path))
    assert too_long(list(modules()), FUNCTION) == []
    assert statistics.median(lengths) <= 10
    assert lengths[len(lengths) * 9 // 10] <= 30


def test_views_parse_call_and_answer():
    """HTTP methods of API views."""
    views = [path for path in modules() if path.parent.name == "api" or path.parent.parent.name == "api"]
    verbs = {"get", "post", "put", "patch", "delete"}
    long = [where(path, node) for path in views for node in functions(path) if node.name in verbs and lines_of(node) > VIEW]
    assert long == []
    caught = [where(path, node) for path in views if path.stem.startswith("views") for node in ast.walk(
        ast.parse(path.read_text())) if isinstance(node, ast.Try)]  # fmt: skip
    assert caught == []


def test_tasks_call_one_operation():
    assert too_long([path for path in modules() if path.stem == "tasks"], TASK) == []
