"""The repository read as text: what the architecture tests look at."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# From the top down; apps of one line do not know each other.
LAYERS = [["console"], ["destinations"], ["queues", "channels"], ["leases"], ["cursors"], ["topics"], ["access"]]
APPS = [app for layer in LAYERS for app in layer]


def modules() -> Iterator[Path]:
    for top in ("platform", "apps"):
        for path in sorted((ROOT / top).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def classes(path: Path) -> Iterator[ast.ClassDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef):
            yield node


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, without the docstring."""
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        length -= (first.end_lineno or first.lineno) - first.lineno + 1
    return length


def where(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno} {getattr(node, 'name', '')}"  # type: ignore[attr-defined]


@dataclass(frozen=True)
class SqlFile:
    path: Path
    text: str

    @property
    def app(self) -> str:
        parts = self.path.relative_to(ROOT).parts
        return parts[1] if parts[0] == "apps" else "core"

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def header(self) -> list[str]:
        return self.text.split("\n")[:3]

    @property
    def body(self) -> str:
        """Without comments; quoted text stays."""
        return re.sub(r"--[^\n]*", "", self.text)


def sql_files() -> list[SqlFile]:
    paths = sorted([*(ROOT / "apps").rglob("sql/*.sql"), *(ROOT / "platform").rglob("sql/*.sql")])
    return [SqlFile(path, path.read_text()) for path in paths]
