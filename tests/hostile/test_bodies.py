"""Bodies of the wrong shape, sent to everything that might read one: never a 500, and nothing is stored."""

import pytest

from tests.endpoints import endpoints
from tests.hostile.shape import check_error

WITH_BODY = [endpoint for endpoint in endpoints() if endpoint.has_body]
WITHOUT_BODY = [endpoint for endpoint in endpoints() if not endpoint.has_body and endpoint.route != "/readyz"]
NAME = "hostile"

WRONG_SHAPES = {
    "list": b"[]",
    "list of numbers": b"[1]",
    "list of lists": b"[[]]",
    "text": b'"x"',
    "null": b"null",
    "true": b"true",
    "number": b"0",
    "unknown field": b'{"no such field": 1}',
    "field twice": b'{"name": "a", "name": "a"}',
    "NUL in a name": b'{"a\\u0000": 1}',
    "surrogate in a name": b'{"\\ud83d": 1}',
}
NOT_JSON = {
    "blank": b" ",
    "half": b'{"a":',
    "NaN": b'{"a": NaN}',
    "-Infinity": b'{"a": -Infinity}',
    "1e400": b'{"a": 1e400}',
    "5000 digits": b'{"a": ' + b"9" * 5000 + b"}",
    "bad UTF-8": b'{"a": "\xff"}',
    "only bad UTF-8": b"\x22\xff\x49\x22",
    "BOM": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "NUL": b"\x00",
    "deep lists": b"[" * 20_000 + b"]" * 20_000,
    "deep objects": b'{"a":' * 2_000 + b"1" + b"}" * 2_000,
    "open objects": b'{"a":' * 2_000,
    "150 deep": b'{"name": ' + b"[" * 150 + b"]" * 150 + b"}",
}
TYPES = [
    "text/plain",
    "application/xml",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "a/b/c",
    "\xff",
]
if_any = {400, 404, 409}


@pytest.mark.django_db
@pytest.mark.parametrize("endpoint", WITH_BODY, ids=str)
def test_a_body_of_the_wrong_shape_is_refused(endpoint, world, nothing_stored):
    path = endpoint.path_named(NAME)
    with nothing_stored():
        for name, raw in (WRONG_SHAPES | NOT_JSON).items():
            answer = world.send(endpoint.method, path, raw)
            assert answer.status_code in if_any, (name, answer.status_code, answer.content)
            check_error(answer, path)


@pytest.mark.django_db
@pytest.mark.parametrize("endpoint", WITH_BODY, ids=str)
def test_another_content_type_or_encoding_is_refused(endpoint, world, nothing_stored):
    path = endpoint.path_named(NAME)
    with nothing_stored():
        for kind in TYPES:
            answer = world.send(endpoint.method, path, b"{}", content_type=kind)
            check_error(answer, path, 400, 404, 415)
        for encoding in ("gzip", "br", "deflate", "gzip, identity", "x"):
            answer = world.send(endpoint.method, path, b"\x1f\x8b\x08\x00", headers={"Content-Encoding": encoding})
            check_error(answer, path, 400, 404, 415)


@pytest.mark.django_db
@pytest.mark.parametrize("endpoint", WITH_BODY, ids=str)
def test_an_empty_body_and_an_empty_object_are_never_a_fault_of_the_server(endpoint, world):
    for raw in (b"", b"{}"):
        answer = world.send(endpoint.method, endpoint.path_named(NAME), raw)
        assert answer.status_code < 500, (raw, answer.content)


@pytest.mark.django_db
@pytest.mark.parametrize("endpoint", WITHOUT_BODY, ids=str)
def test_a_body_where_none_is_read_is_never_a_fault_of_the_server(endpoint, world):
    for raw in (b"[]", b"\xff", b'{"a":' * 2_000):
        assert world.send(endpoint.method, endpoint.path_named(NAME), raw).status_code < 500
