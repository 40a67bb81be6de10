"""One log file a process in HOME/logs, written by the process itself; kept within bounds from outside."""

import shutil
from pathlib import Path

MAX_BYTES = 50 * 1024 * 1024


def trim(folder: Path) -> None:
    """A full file is copied to NAME.log.1 and emptied; its writers append, so they go on at its new end."""
    for file in folder.glob("*.log"):
        if file.stat().st_size > MAX_BYTES:
            shutil.copyfile(file, file.with_name(f"{file.name}.1"))
            with file.open("r+b") as full:
                full.truncate(0)


def last_words(file: Path, lines: int) -> list[str]:
    try:
        with file.open("rb") as log:
            log.seek(max(0, file.stat().st_size - 20_000))
            return log.read().decode(errors="replace").splitlines()[-lines:]
    except OSError:
        return []
