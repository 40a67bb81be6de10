"""Nonsense in paths, queries, methods and headers of every endpoint."""

import pytest

from tests.endpoints import METHODS, endpoints, routes
from tests.hostile.shape import check_error

# Whether the service is ready is not for the tests of input to say.
ENDPOINTS = [endpoint for endpoint in endpoints() if endpoint.route != "/readyz"]
GUARDED = [endpoint for endpoint in ENDPOINTS if not endpoint.is_public]
NAMED = [endpoint for endpoint in GUARDED if "<" in endpoint.route]
API_ROUTES = sorted({endpoint.route for endpoint in ENDPOINTS})

QUERIES = [
    "tpye=a",
    "type=%00",
    "tpye=a&tpye=b",
    "limit=%00&limit=5",
    "limit=5&limit=500",
    "limit=0",
    "limit=-1",
    "limit=abc",
    "limit=1.5",
    "limit=1e3",
    "limit=",
    "limit=%20%2010",
    "limit=%2B10",
    "limit=%D9%A1%D9%A0",
    "limit=2147483648",
    "limit=" + "9" * 5000,
    "cursor=!!!",
    "cursor=WyJcdTAwMDAiXQ",
    "cursor=%00",
    "cursor=",
    "%ff=1",
    "a=%ff",
    "a=%",
    "a=%zz",
    "=",
    "&".join(f"a{number}=1" for number in range(1_000)),
    "format=exe",
    "ordering=password",
    "id__in=1,2",
    "access_token=x",
]
NAMES = [
    "%00",
    "a%00b",
    "%ff",
    "%",
    "%25",
    "%2e%2e",
    "..%2f..",
    "a%2Fb",
    "a%20b",
    "%F0%9F%98%80" * 80,
    "%E2%80%8F",
    "a" * 201,
    "a" * 5_000,
    "019ac2f0-9d2c-7c1e-8f0a-5b1e2d3c4b5",
    "019ac2f09d2c7c1e8f0a5b1e2d3c4b5a",
    "%7B019ac2f0-9d2c-7c1e-8f0a-5b1e2d3c4b5a%7D",
    "00000000-0000-0000-0000-000000000000",
    "-1",
    "9" * 30,
    "'%20OR%201=1--",
]


@pytest.mark.django_db
@pytest.mark.parametrize("endpoint", [endpoint for endpoint in GUARDED if endpoint.route != "/metrics"], ids=str)
def test_a_query_that_means_nothing_is_refused(endpoint, world, nothing_stored):
    path = endpoint.path_named("hostile")
    with nothing_stored():
        for query in QUERIES:
            answer = world.send(endpoint.method, f"{path}?{query}", b"{}" if endpoint.method in ("POST", "PATCH") else None)
            assert answer.status_code in (400, 404), (query[:80], answer.status_code, answer.content)
            check_error(answer, path)


@pytest.mark.django_db
@pytest.mark.parametrize("endpoint", NAMED, ids=str)
def test_a_name_that_cannot_exist_is_not_found(endpoint, world):
    for name in NAMES:
        path = endpoint.path_named(name)
        answer = world.send(endpoint.method, path, b"{}" if endpoint.has_body else None)
        assert answer.status_code < 500, (name[:60], answer.content)
        if answer.status_code >= 400:
            check_error(answer, path)


@pytest.mark.django_db
@pytest.mark.parametrize("route", API_ROUTES)
def test_a_method_that_is_not_offered_answers_405_with_what_is(route, world):
    found = next(endpoint for endpoint in ENDPOINTS if endpoint.route == route)
    offered = {endpoint.method for endpoint in ENDPOINTS if endpoint.route == route}
    path = found.path_named("hostile")
    for method in {*METHODS, "OPTIONS", "TRACE", "PROPFIND"} - offered:
        answer = world.send(method, path, b"{}")
        check_error(answer, path, 405)
        assert offered <= set(answer["Allow"].split(", "))
    head = world.send("HEAD", path)
    assert head.status_code == 405 if "GET" not in offered else head.status_code < 500


@pytest.mark.django_db
@pytest.mark.parametrize("endpoint", GUARDED, ids=str)
def test_headers_change_nothing(endpoint, world):
    path = endpoint.path_named("hostile")
    for headers in (
        {"Accept": "application/xml"},
        {"Accept": "text/html;q=0.1"},
        {"Accept-Language": "\xff"},
        {"X-Request-Id": "a\x00b"},
        {"X-Request-Id": "x" * 5_000},
        {"X-HTTP-Method-Override": "DELETE"},
        {"Range": "bytes=0-1"},
        {"If-None-Match": "*"},
        {"Cookie": "sessionid=%00\xff"},
        {"X-Forwarded-Proto": "https, \xff"},
    ):
        answer = world.send(endpoint.method, path, b"[]" if endpoint.has_body else None, headers=headers)
        assert answer.status_code < 500, (headers, answer.content)
        assert answer.status_code != 406


@pytest.mark.django_db
@pytest.mark.parametrize("endpoint", GUARDED, ids=str)
def test_a_credential_that_is_none_is_unauthenticated(endpoint, world, nothing_stored):
    path = endpoint.path_named("hostile")
    key = world.token
    with nothing_stored():
        for header in (
            "Bearer abc\xb8",
            f"Bearer {key}\xb8",
            f"Token {key}",
            f"Basic {key}",
            "Bearer",
            "",
            f"Bearer {key[:-1]}",
            f"Bearer {key} x",
        ):
            answer = world.send(
                endpoint.method, path, b"{}" if endpoint.has_body else None, headers={"Authorization": header}
            )
            check_error(answer, path, 401)
            assert answer["WWW-Authenticate"].startswith("Bearer")
        for query in (f"access_token={key}", f"token={key}", f"key={key}", f"authorization=Bearer+{key}"):
            unsigned = {"Authorization": ""}
            check_error(world.send(endpoint.method, f"{path}?{query}", headers=unsigned), path, 401)


def test_every_route_of_the_api_is_looked_at():
    assert {route for route, view in routes() if route.startswith("/v1/")} <= set(API_ROUTES)
