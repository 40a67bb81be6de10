"""One rule for what things may be called, so that whatever can be made can also be fetched, changed and deleted."""

import re
from uuid import UUID

from core.errors import Invalid, InvalidField

MAX_NAME = 200
MAX_WORKER = 200
_JOINER = "\u200d"  # invisible by itself, but what holds many an emoji together
_NAME = re.compile(r"[A-Za-z0-9._:-]{1,200}", re.ASCII)


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def check_name(name: str, field: str = "name", error: type[Invalid] = InvalidField) -> str:
    """The name itself. Raises `error` when it could not be used in a URL or could be taken for an id."""
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise error("1 to 200 of the characters A-Z a-z 0-9 . _ : - are allowed, but not '.' or '..'.", field=field)
    if as_uuid(name) is not None:
        raise error("A name must not look like an id (a UUID).", field=field)
    return name


def check_worker(worker: str, field: str = "workerId", error: type[Invalid] = InvalidField) -> str:
    """What a worker calls itself: up to 200 printable characters, shown to operators. Raises `error`."""
    seen = worker.replace(_JOINER, "")
    if not seen or len(worker) > MAX_WORKER or not seen.isprintable():
        raise error(f"1 to {MAX_WORKER} printable characters.", field=field, min=1, max=MAX_WORKER)
    return worker
