"""Makes .venv from requirements/*.txt and puts this command inside it; needs nothing but Python's standard library.

`.venv` is made anew when an earlier installation did not end, and brought up to date when the requirements have changed.
"""

import fcntl
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"


def enter(requirements: str) -> None:
    """Returns in an interpreter that has what `requirements` ("base", "dev") lists; starts the command again if need be."""
    if Path(sys.prefix).resolve() == VENV.resolve():
        if not _is_installed(requirements):
            install(requirements)
            _again()
    elif not _serves_as_it_is(requirements):
        install(requirements)
        _again()


def install(requirements: str) -> None:
    with _alone():
        if _is_installed(requirements):
            return
        if not _is_complete():
            _make_venv()
        _install_packages(requirements)


def _again() -> None:
    sys.stdout.flush()
    os.execv(PYTHON, [str(PYTHON), str(ROOT / "manage.py"), *sys.argv[1:]])


def _file(requirements: str) -> Path:
    return ROOT / "requirements" / f"{requirements}.txt"


def _stamp(requirements: str) -> Path:
    return VENV / f"towpath-{requirements}"


def _digest(requirements: str) -> str:
    return hashlib.sha256(_file(requirements).read_bytes()).hexdigest()


def _is_installed(requirements: str) -> bool:
    """dev.txt holds all of base.txt, so an installed dev serves both."""
    return _is_complete() and any(
        _stamp(name).is_file() and _stamp(name).read_text() == _digest(name) for name in {requirements, "dev"}
    )


def _is_complete() -> bool:
    return os.access(PYTHON, os.X_OK) and any(VENV.glob("towpath-*"))


def _serves_as_it_is(requirements: str) -> bool:
    """An image with every pin, or the virtual environment somebody chose, is used; anything else gets .venv."""
    present = {_canonical(d.name): d.version for d in distributions() if d.name}
    pins = dict(_pins(requirements))
    if sys.prefix != sys.base_prefix:
        return pins.keys() <= present.keys()
    return pins.items() <= present.items()


def _pins(requirements: str) -> Iterator[tuple[str, str]]:
    for line in _file(requirements).read_text().splitlines():
        if found := re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line):
            yield _canonical(found[1]), found[2]


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@contextmanager
def _alone() -> Iterator[None]:
    """Two commands on a fresh clone: the second waits for the first one's installation. flock needs no file of its own."""
    with _file("base").open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another command that is installing …")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make_venv() -> None:
    if importlib.util.find_spec("ensurepip") is None:
        sys.exit(
            f"This Python ({sys.executable}) cannot make a virtual environment: it has no ensurepip. On Debian and Ubuntu:"
            f" apt install python{sys.version_info.major}.{sys.version_info.minor}-venv"
        )
    _say(f"making {VENV} with Python {sys.version.split()[0]} …")
    base = getattr(sys, "_base_executable", sys.executable)
    if subprocess.run([base, "-m", "venv", "--clear", str(VENV)]).returncode:
        sys.exit("The virtual environment could not be made; the lines above say why.")


def _install_packages(requirements: str) -> None:
    for name in ("base", "dev"):
        _stamp(name).unlink(missing_ok=True)
    _say(f"installing {sum(1 for _ in _pins(requirements))} packages (only this time) …")
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--progress-bar", "off"]
    lines: list[str] = []
    with subprocess.Popen(
        [*pip, "-r", str(_file(requirements))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        assert run.stdout is not None
        for line in run.stdout:
            lines.append(line)
            _show_progress(line, lines)
    if run.returncode:
        sys.exit("".join(lines[-15:]) + "The packages could not be installed; the lines above are pip's.")
    _stamp(requirements).write_text(_digest(requirements))
    _say("installed")


def _show_progress(line: str, lines: list[str]) -> None:
    if line.startswith("Collecting "):
        count = sum(1 for seen in lines if seen.startswith("Collecting "))
        if sys.stderr.isatty() or count % 10 == 0:
            _say(f"  {count}: {line.split()[1]}")
    elif line.startswith("Installing collected"):
        _say("  unpacking …")


def _say(text: str) -> None:
    print(f"towpath: {text}", file=sys.stderr, flush=True)
