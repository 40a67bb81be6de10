"""Which scope each verb needs: written down here once more, as the contract has it, and enforced by every endpoint."""

import re

import pytest

from apps.access.scopes import ANY_MANAGE, SCOPES
from tests.endpoints import Endpoint, endpoints, routes
from tests.factories import Api, api_key

TABLE = [
    ("GET", r"/v1/audit|/metrics", ANY_MANAGE),
    ("GET|POST", r"/v1/bulk-operations(/.*)?", ("manage:events", "manage:queues")),
    # Events
    ("POST", r"/v1/topics/{}/(records|events)", "write:events"),
    ("GET", r"/v1/topics(/.*)?", "read:events"),
    ("POST", r"/v1/topics/{}/partitions/{}/commit", "read:events"),
    ("POST", r"/v1/topics/{}/groups/{}/assignments", "read:events"),
    ("DELETE", r"/v1/topics/{}/groups/{}/assignments/{}", "read:events"),
    ("POST|PATCH|DELETE", r"/v1/topics(/.*)?", "manage:events"),
    ("POST", r"/v1/event-destinations/{}/(pull|acknowledge|extend)", "read:events"),
    ("GET|POST", r"/v1/event-destinations/{}/dead-letters(/.*)?", "manage:events"),
    ("GET", r"/v1/event-destinations(/.*)?", "read:events"),
    ("POST|PATCH|DELETE", r"/v1/event-destinations(/.*)?", "manage:events"),
    # Queues
    ("POST", r"/v1/event-queues/{}/events", "write:queues"),
    ("POST", r"/v1/event-queues/{}/(claim|ack)", "read:queues"),
    ("POST", r"/v1/events/{}/(heartbeat|ack|nack)", "read:queues"),
    ("GET|POST", r"/v1/event-queues/{}/dead-letters(/.*)?", "manage:queues"),
    ("GET", r"/v1/event-queues(/.*)?", "read:queues"),
    ("POST|PATCH|DELETE", r"/v1/event-queues(/.*)?", "manage:queues"),
    ("GET", r"/v1/schedules(/.*)?", "read:queues"),
    ("POST|PATCH|DELETE", r"/v1/schedules(/.*)?", "write:queues"),
    # Channels
    ("POST", r"/v1/streams/(events|{}/events|{}/logs)", "write:channels"),
    ("GET", r"/v1/(streams/{}(/(snapshot|events|live|logs))?|channel-kinds(/{})?)", "read:channels"),
    ("POST|PATCH", r"/v1/channel-kinds(/{})?", "manage:channels"),
    ("POST|DELETE", r"/v1/grants(/.*)?", "manage:channels"),
    ("DELETE", r"/v1/streams/{}", "manage:channels"),
]
PUBLIC = {"POST /oauth/token", "GET /v1/openapi.json", "GET /docs", "GET /readyz"}

GUARDED = [endpoint for endpoint in endpoints() if not endpoint.is_public]


def expected(endpoint):
    for methods, route, scope in TABLE:
        if re.fullmatch(methods, endpoint.method) and re.fullmatch(route.replace("{}", r"\{\}"), endpoint.template):
            return scope
    raise AssertionError(f"{endpoint} stands in no line of the table")


@pytest.mark.parametrize("endpoint", GUARDED, ids=str)
def test_a_view_names_the_scope_of_the_table(endpoint):
    assert endpoint.view.scopes.get(endpoint.method) == expected(endpoint)


def test_a_view_names_no_scope_for_a_method_it_has_not():
    for endpoint in GUARDED:
        assert {method for method in endpoint.view.scopes if not hasattr(endpoint.view, method.lower())} == set(), endpoint


def test_only_these_need_no_token():
    assert {str(endpoint) for endpoint in endpoints() if endpoint.is_public} == PUBLIC


def test_everything_under_v1_is_a_view_of_the_api():
    others = [route for route, view in routes() if route.startswith("/v1/") and not isinstance(view, type)]
    assert others == []


def call(token, endpoint: Endpoint):
    # From afar: who is near may read the metrics without a token.
    return Api(token).send(endpoint.method, endpoint.path, {} if endpoint.has_body else None, REMOTE_ADDR="203.0.113.9")


@pytest.mark.django_db
@pytest.mark.parametrize("endpoint", GUARDED, ids=str)
def test_without_its_scope_it_is_forbidden_and_without_a_token_unauthenticated(endpoint):
    needed = expected(endpoint)
    others = [scope for scope in SCOPES if scope not in (needed if isinstance(needed, tuple) else (needed,))]
    refused = call(api_key(*others), endpoint)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "FORBIDDEN")
    unknown = call(None, endpoint)
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (401, "UNAUTHENTICATED")
    assert unknown["WWW-Authenticate"].startswith("Bearer")
    for one in [needed] if isinstance(needed, str) else needed:
        assert call(api_key(one), endpoint).status_code not in (401, 403)
