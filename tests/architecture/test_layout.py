"""Everything has one place, the same in every app."""

import ast
import platform
import re
import sysconfig
from pathlib import Path

import config
import core
from tests.architecture.sources import APPS, ROOT, classes, functions, modules, where

INSIDE_AN_APP = {
    "api", "management", "migrations", "operations", "selectors", "sql", "templates", "static", "templatetags",
    "__init__", "admin", "apps", "errors", "models", "tasks",
}  # fmt: skip
# Pure rules and values, neither operation nor selector: named here on purpose.
RULES = {
    "topics": {"cloudevents", "cold", "hashing", "items", "load", "records", "transfer"},
    "access": {"audit", "credentials", "hashers", "oauth", "scopes"},
    "queues": {"timetable"},
    "channels": {"documents", "live", "names", "tokens"},
    "destinations": {"forward", "webhooks"},
    "console": {"health", "metrics", "middleware", "navigation", "pages", "site"},
}
INSIDE_AN_API = {"__init__", "authentication", "filters", "permissions", "schemas", "urls", "views"}
TOP = {
    "apps",
    "docs",
    "platform",
    "requirements",
    "templates",
    "tests",
    "LICENSE",
    "README.md",
    "manage.py",
    "pyproject.toml",
}
BANNED = re.compile(r"(^|_)(utils?|helpers?|common|managers?|handlers?|process|data|info)$", re.IGNORECASE)


def test_platform_is_pythons_own_and_our_packages_come_from_our_tree():
    assert Path(platform.__file__).is_relative_to(sysconfig.get_path("stdlib"))
    assert not (ROOT / "platform" / "__init__.py").exists()
    assert Path(config.__file__).parent == ROOT / "platform" / "config"
    assert Path(core.__file__).parent == ROOT / "platform" / "core"


def test_the_apps_are_the_ones_of_the_layers():
    found = {path.name for path in (ROOT / "apps").iterdir() if (path / "__init__.py").exists()}
    assert found == set(APPS)


def test_no_module_or_class_has_a_name_that_says_nothing():
    names = [str(path.relative_to(ROOT)) for path in modules() if BANNED.search(path.stem)]
    names += [where(path, node) for path in modules() for node in classes(path) if re.search(
        r"(Utils?|Helpers?|Common|Manager|Handler|Process|Data|Info)$", node.name)]  # fmt: skip
    assert names == []


def test_nothing_is_imported_inside_a_function():
    inside = [
        where(path, node)
        for path in modules()
        for function in functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []


def test_there_are_no_signals_and_no_stars():
    for path in modules():
        text = path.read_text()
        assert not re.search(
            r"django\.(db\.models|core|dispatch)[.\w]* import .*\b(post_save|pre_save|receiver|Signal)\b", text
        ), path
        assert not re.search(r"^from .* import \*", text, re.MULTILINE), path


def parts(folder: Path) -> set[str]:
    return {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path.is_dir() and path.name != "__pycache__")}


def test_every_app_has_the_same_names_inside():
    for app in APPS:
        strange = parts(ROOT / "apps" / app) - INSIDE_AN_APP - RULES.get(app, set())
        assert strange == set(), f"{app}: {strange}"
        assert parts(ROOT / "apps" / app / "api") <= INSIDE_AN_API, app
