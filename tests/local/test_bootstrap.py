"""From nothing to .venv: only the standard library, and never a half-made environment taken for a whole one."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from local import bootstrap

ROOT = Path(__file__).resolve().parents[2]
AS_OLD = "import sys, runpy; sys.version_info = (3, 10); sys.argv = ['manage.py']; runpy.run_path(%r, run_name='__main__')"


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A repository whose requirements are one line, and a .venv without a stamp."""
    (tmp_path / "requirements").mkdir()
    for name in ("base", "dev"):
        (tmp_path / f"requirements/{name}.txt").write_text("pytest==0.1\n    # via nobody\n")
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(bootstrap, "PYTHON", python)
    return tmp_path


def stamp(clone: Path, requirements: str) -> None:
    (clone / f".venv/towpath-{requirements}").write_text(bootstrap._digest(requirements))


def imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names}


def test_the_start_of_everything_needs_only_the_standard_library():
    for path in (ROOT / "platform/local").glob("*.py"):
        assert imported(path) <= sys.stdlib_module_names | {"local"}, path.name


def test_an_environment_whose_installation_did_not_end_is_not_taken(clone):
    assert not bootstrap._is_complete()


def test_an_installed_environment_is_taken_until_the_requirements_change(clone):
    stamp(clone, "base")
    assert bootstrap._is_installed("base")
    (clone / "requirements/base.txt").write_text("pytest==0.2\n")
    assert not bootstrap._is_installed("base")
    assert bootstrap._is_complete(), "it is brought up to date, not made anew"


def test_what_is_installed_for_tests_serves_the_platform_too_but_not_the_other_way_round(clone):
    stamp(clone, "dev")
    assert bootstrap._is_installed("base")
    (clone / ".venv/towpath-dev").unlink()
    stamp(clone, "base")
    assert not bootstrap._is_installed("dev")


def test_a_new_pin_is_seen_also_where_tests_are_installed(clone):
    stamp(clone, "dev")
    (clone / "requirements/dev.txt").write_text("pytest==0.3\n")
    assert not bootstrap._is_installed("base")


def test_a_system_python_serves_only_with_every_pin_and_a_chosen_environment_with_every_name(clone, monkeypatch):
    monkeypatch.setattr(sys, "base_prefix", "/elsewhere")
    assert bootstrap._serves_as_it_is("base")
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    assert not bootstrap._serves_as_it_is("base")
    (clone / "requirements/base.txt").write_text(f"pytest=={pytest.__version__}\n")
    assert bootstrap._serves_as_it_is("base")
    (clone / "requirements/base.txt").write_text("nobody-has-this==1\n")
    assert not bootstrap._serves_as_it_is("base")


def test_without_ensurepip_it_says_what_to_install(clone, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="apt install python3"):
        bootstrap._make_venv()


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"]])
def test_the_own_commands_stand_above_those_of_django(arguments):
    run = subprocess.run([sys.executable, str(ROOT / "manage.py"), *arguments], capture_output=True, text=True, check=True)
    own, django = run.stdout.split("Available subcommands:")
    assert all(f"\n    {command} " in own for command in ("up", "test", "create_api_key"))
    assert "dbshell" in django


def test_an_old_python_gets_a_sentence_instead_of_a_traceback():
    # By the grammar of old Pythons: without f-strings and annotations of variables.
    ast.parse((ROOT / "manage.py").read_text(), feature_version=(3, 4))
    run = subprocess.run([sys.executable, "-c", AS_OLD % str(ROOT / "manage.py")], capture_output=True, text=True)
    assert run.returncode == 1
    assert "needs Python 3.11 or newer, and this is Python 3.10" in run.stderr


def pins(name: str) -> list[str]:
    lines = (ROOT / f"requirements/{name}.txt").read_text().splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def test_pins_name_no_host_and_no_folder():
    for line in pins("base") + pins("dev"):
        assert "==" in line and "://" not in line and not line.startswith(("/", "-"))


def test_the_platform_is_tested_with_what_it_runs_with():
    assert set(pins("base")) <= set(pins("dev"))
