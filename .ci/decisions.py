"""Prints docs/decisions/README.md from the pages beside it; `--write` writes it. A page that cannot be parsed is refused."""

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "decisions"
SECTIONS = ("Context", "Decision", "Consequences", "Measured")
STATUSES = ("accepted", "superseded", "open")


def line(path: Path) -> str:
    """One row of the index. Raises ValueError naming the page and what it lacks."""
    number = re.fullmatch(r"(\d{4})-[a-z0-9-]+", path.stem)
    text = path.read_text()
    title = re.match(r"# (\d{4}) (.+)\n", text)
    status = re.search(r"^Status: (\w+)", text, re.MULTILINE)
    if not number or not title or title[1] != number[1]:
        raise ValueError(f"{path.name}: the first line must be '# {path.stem[:4]} Title'")
    if not status or status[1] not in STATUSES:
        raise ValueError(f"{path.name}: needs a line 'Status: {' | '.join(STATUSES)}'")
    if re.findall(r"^## (.+)$", text, re.MULTILINE) != list(SECTIONS):
        raise ValueError(f"{path.name}: the sections must be {', '.join(SECTIONS)}")
    return f"| [{number[1]}]({path.name}) | {title[2]} | {status[1]} |"


def index(folder: Path = FOLDER) -> str:
    pages = sorted(folder.glob("[0-9]*.md"))
    rows = "\n".join(line(path) for path in pages)
    return f"# Decisions\n\nWritten by `.ci/decisions.py --write`.\n\n| no. | decision | status |\n|---|---|---|\n{rows}\n"


if __name__ == "__main__":
    if "--write" in sys.argv:
        (FOLDER / "README.md").write_text(index())
    else:
        sys.stdout.write(index())
