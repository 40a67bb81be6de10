"""The API is true to its description: whatever is sent gets a documented status, in the documented form, and never a 5xx."""

import json
import os

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from apps.access.api.views import document
from config.wsgi import application

EXAMPLES = 6 * int(os.environ.get("TOWPATH_TEST_SCALE", "1"))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]

schema = schemathesis.openapi.from_dict(json.loads(document()))


def reached(case):
    """Every other time with names that exist: otherwise there would be little but 404s."""
    for name, value in (case.path_parameters or {}).items():
        if isinstance(value, str) and len(value) % 2:
            case.path_parameters[name] = "hostile"
    return case


@pytest.fixture
def open_connection(world):
    """As Django's own test client does: the end of a request is not the end of the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.usefixtures("open_connection")
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_it_answers_as_described(case, world):
    headers = {"Authorization": f"Bearer {world.token}"} if case.operation.path.startswith("/v1/") else {}
    answer = reached(case).call(app=application, headers=headers)
    case.validate_response(answer, checks=CHECKS)
