"""Finds and ends what a killed `up` of the same home left behind. On Linux only; elsewhere it finds nothing."""

import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

MARK = "TOWPATH_STARTED_BY_HOME"


def started_by(home: Path) -> list[int]:
    """Processes that carry the mark of this home in their environment, whatever has become of their parents."""
    mark = f"{MARK}={home}".encode()
    return [pid for pid in _pids() if mark in _environment(pid).split(b"\0")]


def working_in(folder: Path) -> list[int]:
    """PostgreSQL and its backends work in their data directory: that tells ours from a stranger with a recycled pid."""
    return [pid for pid in _pids() if _working_directory(pid) == str(folder)]


def end(pids: Iterable[int], number: int = signal.SIGKILL) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def gone(find: Callable[[], list[int]], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while find():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    except FileNotFoundError:
        return []


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _working_directory(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""
