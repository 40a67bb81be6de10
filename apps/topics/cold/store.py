"""The object store of TOWPATH_COLD_URL. An object is written once under a name that holds its hash, and never changed."""

import os
import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import obstore
from django.conf import settings
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, ObjectStore, from_url

from core.errors import Unavailable

ATTEMPTS = 4
FIRST_PAUSE = 0.1  # seconds, doubled after each attempt
PROBES = "probe"
_STAGED = re.compile(r"#\d+$", re.ASCII)


class StoreFailed(Unavailable):
    """The object store cannot do this right now; try again."""


class Missing(StoreFailed):
    """An object that should be in the store is not there."""


def put_if_absent(name: str, content: bytes) -> None:
    """The object is there with this content when this returns, whoever wrote it. Raises StoreFailed.

    Whatever a write answers, what can be read back decides: a reply may be lost after success, and "exists already" may
    come of a conflict (409) after which nothing is there.
    """
    _check_keeps_what_it_has(settings.TOWPATH["COLD_URL"])
    failure: Exception | None = None
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(FIRST_PAUSE * 2**attempt)
        try:
            # Never in parts: of those some stores check the condition for none.
            obstore.put(_store(), name, content, mode="create", use_multipart=False)
        except (BaseError, OSError) as error:
            failure = error
        try:
            found = get(name)
        except StoreFailed as error:
            failure = failure or error
            continue
        if found != content:
            raise StoreFailed(f"Another object has the name {name} already.")
        _make_durable(name)
        return
    raise StoreFailed(f"An object could not be written: {failure}")


def get(name: str) -> bytes:
    """Raises Missing, StoreFailed."""
    try:
        return bytes(obstore.get(_store(), name).bytes())
    except FileNotFoundError as error:
        raise Missing(f"The object {name} is missing.") from error
    except (BaseError, OSError) as error:
        raise StoreFailed(f"An object could not be read: {error}") from error


def delete(*names: str) -> None:
    """Those that are not there are gone already. Raises StoreFailed."""
    for name in names:
        try:
            obstore.delete(_store(), name)
        except FileNotFoundError:
            pass
        except (BaseError, OSError) as error:
            raise StoreFailed(f"An object could not be deleted: {error}") from error


def listed(prefix: str) -> Iterator[tuple[str, datetime]]:
    """Name and time of each object below. Raises StoreFailed."""
    try:
        for chunk in obstore.list(_store(), prefix=prefix):
            for found in chunk:
                yield found["path"], found["last_modified"]
    except (BaseError, OSError) as error:
        raise StoreFailed(f"Objects could not be listed: {error}") from error


def remove_probes(before: datetime) -> None:
    """Those of processes that were killed while they tried the store, from before a time. Raises StoreFailed."""
    delete(*[name for name, written in listed(PROBES) if written < before])


def remove_unfinished(prefix: str, before: datetime) -> list[str]:
    """What a process left below that was killed while it wrote, from before a time; returns the names. Raises StoreFailed.

    An object store shows a write whole or not at all; a file is written beside its name first, as `name#1`, which no list
    shows.
    """
    url = settings.TOWPATH["COLD_URL"]
    if not url.startswith("file:"):
        return []
    try:
        staged = [path for path in (_folder(url) / prefix).rglob("*#*") if _STAGED.search(path.name)]
        old = [path for path in staged if path.stat().st_mtime < before.timestamp()]
        for path in old:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreFailed(f"What was left unfinished could not be removed: {error}") from error
    return [path.relative_to(_folder(url)).as_posix() for path in old]


def _store() -> ObjectStore:
    return _opened(settings.TOWPATH["COLD_URL"])


@lru_cache(maxsize=4)
def _opened(url: str) -> ObjectStore:
    if url.startswith("file:"):
        return LocalStore(_folder(url), mkdir=True)
    options: dict[str, Any] = {"timeout": timedelta(seconds=20), "connect_timeout": timedelta(seconds=5)}
    if os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"):
        options["allow_http"] = True
    retries: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
    return from_url(url, client_options=options, retry_config=retries)  # type: ignore[call-overload,no-any-return]


def _folder(url: str) -> Path:
    return Path(url.removeprefix("file://"))


@lru_cache(maxsize=4)
def _check_keeps_what_it_has(url: str) -> None:
    """Tries once a process whether the store enforces the condition: some take it and overwrite all the same."""
    name = f"{PROBES}/{uuid4()}"
    try:
        obstore.put(_opened(url), name, b"1", mode="create", use_multipart=False)
        try:
            obstore.put(_opened(url), name, b"2", mode="create", use_multipart=False)
        except AlreadyExistsError:
            return
        finally:
            obstore.delete(_opened(url), name)
    except (BaseError, OSError) as error:
        raise StoreFailed(f"The object store cannot be written: {error}") from error
    raise StoreFailed("The object store overwrites objects that it is told to keep: it cannot be used.")


def _make_durable(name: str) -> None:
    """A file is safe from a power cut only once it and its folders are flushed; an object store answers after that."""
    url = settings.TOWPATH["COLD_URL"]
    if not url.startswith("file:"):
        return
    path = _folder(url) / name
    for each in (path, *(parent for parent in path.parents if parent.is_relative_to(_folder(url)))):
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
