"""Each thing that can go wrong has a status and a code of its own."""

import importlib
from collections import defaultdict

import pytest

from core import http
from core.errors import DomainError
from tests.architecture.sources import ROOT, modules

CODE_OF_A_FAMILY = {"INVALID_FIELD", "UNAVAILABLE"}  # Invalid and InvalidField; Unavailable and the object store below it


def every_error() -> list[type[DomainError]]:
    for path in modules():
        if path.stem == "errors" or path.parent.name == "operations":
            top = ROOT / "platform" if "platform" in path.parts else ROOT
            importlib.import_module(".".join(path.relative_to(top).with_suffix("").parts))
    found, waiting = [], [DomainError]
    while waiting:
        error = waiting.pop()
        waiting += error.__subclasses__()
        found.append(error)
    # Tests may make errors of their own.
    return [error for error in found if error is not DomainError and not error.__module__.startswith("test")]


@pytest.mark.parametrize("error", every_error(), ids=lambda error: error.__name__)
def test_it_has_a_status_and_a_message(error):
    assert http.status_of(error()) in (400, 401, 403, 404, 405, 409, 410, 413, 415, 429, 503) or error is http.InternalError
    assert error().message.endswith(".")


def test_no_two_share_a_code_by_accident():
    owners = defaultdict(set)
    for error in every_error():
        if "code" in vars(error) or error.__module__ != "core.errors":
            owners[error.code].add(error)
    shared = {code: errors for code, errors in owners.items() if len(errors) > 1 and code not in CODE_OF_A_FAMILY}
    assert shared == {}
