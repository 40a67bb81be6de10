import time
from typing import Annotated

import msgspec
import pytest
from django.test import RequestFactory
from msgspec import Meta

from core import parse
from core.errors import InvalidField, InvalidJson, InvalidParameter, UnsupportedMediaType


class Item(parse.Body):
    time: str | None = None
    payload: msgspec.Raw = msgspec.Raw(b"null")
    name: Annotated[str, Meta(min_length=1, max_length=5)] = "a"


class Order(parse.Body):
    max_unsettled: Annotated[int, Meta(ge=1, le=10)] | None = None
    events: Annotated[list[Item], Meta(max_length=3)] | msgspec.UnsetType = msgspec.UNSET
    documents: dict[str, msgspec.Raw] | None = None
    payload: str = ""


class Browse(parse.Query):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    after: int | None = None
    worker_id: Annotated[str, Meta(min_length=1, max_length=200)] = "w"


def query(text, shape=Browse):
    request = RequestFactory().get("/")
    request.META["QUERY_STRING"] = text
    return parse.query(request, shape)


def body(raw, content_type="application/json", **headers):
    return parse.body(RequestFactory().generic("POST", "/", raw, content_type, headers=headers), Order)


def refused(kind, call, *arguments, **more):
    with pytest.raises(kind) as caught:
        call(*arguments, **more)
    return caught.value.details


def test_it_reads_what_is_right():
    assert query("limit=7&workerId=w%201&after=-3") == Browse(limit=7, worker_id="w 1", after=-3)
    order = body(b'{"maxUnsettled": 3, "events": [{"time": null, "payload": {"a": "\\u0000", "a": 1}}]}')
    assert order.max_unsettled == 3
    assert bytes(order.events[0].payload) == b'{"a": "\\u0000", "a": 1}'


@pytest.mark.parametrize(
    "text", ["0", "-1", "abc", "1.5", "1e3", "", "%2010", "%2B10", "+10", "%D9%A1%D9%A0", "2147483648", "201", "9" * 400,
             "true", "0x10", "01", "1_0", "-0"],
)  # fmt: skip
def test_a_limit_that_is_none_is_refused_with_the_range(text):
    assert refused(InvalidParameter, query, f"limit={text}") == {"field": "limit", "min": 1, "max": 200}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("limit=5&limit=500", "limit"),
        ("limit=5&limit=5", "limit"),
        ("limti=5", "limti"),
        ("worker_id=w", "worker_id"),
        ("workerId=", "workerId"),
        ("workerId=a%00b", "workerId"),
        ("workerId=%00&workerId=ok", "workerId"),
        ("workerId=ok&workerId=%00", "workerId"),
        ("a%00b=1", "a\ufffdb"),
        ("after=1e400", "after"),
        ("workerId=%ff", "workerId"),
        ("limit=5&workerId=%", "workerId"),
        ("workerId=%zz", "workerId"),
        ("workerId=\xe9", "workerId"),
        ("workerId=%ED%A0%BD&limit=5", "workerId"),
        ("worker%49d=a+%ff", "workerId"),
        ("%ff=1", "\ufffd"),
        ("%FF%00=1", "\ufffd\ufffd"),
        ("&".join(f"p{n}=1" for n in range(101)), ""),
    ],
)
def test_a_parameter_that_is_repeated_unknown_or_no_text_is_named(text, field):
    assert refused(InvalidParameter, query, text)["field"] == field


@pytest.mark.parametrize("raw", [b"[]", b"[1]", b'"x"', b"null", b"true", b"0"])
def test_a_body_that_is_no_object_is_refused(raw):
    assert refused(InvalidField, body, raw) == {"field": ""}


NOT_JSON = {
    "empty": b"",
    "blank": b" ",
    "NaN": b'{"events": NaN}',
    "-Infinity": b'{"documents": {"a": -Infinity}}',
    "1e400": b'{"documents": {"a": 1e400}}',
    "400 digits": b'{"documents": {"a": ' + b"9" * 400 + b"}}",
    "5000 digits": b'{"documents": {"a": -' + b"9" * 5000 + b"}}",
    "bad UTF-8": b'{"payload": "\xff"}',
    "raw surrogate": b'{"payload": "\xed\xa0\xbd"}',
    "BOM": b"\xef\xbb\xbf{}",
    "UTF-16": '{"payload": "a"}'.encode("utf-16"),
    "trailing": b"{} {}",
    "comma": b'{"payload": "a",}',
    "control": b'{"payload": "a\nb"}',
    "deep lists": b"[" * 20_000 + b"]" * 20_000,
    "deep objects": b'{"a":' * 2_000,
    "deep in data": b'{"documents": {"a": ' + b"[" * 63 + b"]" * 63 + b"}}",
    "unpaired": b'{"payload": "' + b"[" * 80 + b'"' + b"[" * 80 + b"}" * 81,
}


@pytest.mark.parametrize("raw", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_what_is_not_json_is_refused(raw):
    refused(InvalidJson, body, raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"documents": {"a": ' + b"[" * 62 + b"]" * 62 + b"}}",
        b'{"documents": {"a": ["' + b"[" * 500 + b'\\"]"]}}',
        b'{"documents": {"a": 1E-400, "b": -0, "c": ' + b"9" * 308 + b"}}",
        b'{"documents": {"b": "\\u0000", "c": {"x": 1, "x": 2}}}',
        b'{"payload": "\\ud83d\\ude4f \\\\u0000 9e83471310"}',
    ],
)
def test_what_only_looks_wrong_is_taken(raw):
    body(raw)


@pytest.mark.parametrize(
    ("raw", "details"),
    [
        (b'{"maxUnsettled": 0}', {"field": "maxUnsettled", "min": 1, "max": 10}),
        (b'{"maxUnsettled": true}', {"field": "maxUnsettled", "min": 1, "max": 10}),
        (b'{"maxUnsettled": 1.0}', {"field": "maxUnsettled", "min": 1, "max": 10}),
        (b'{"maxUnsettled": "1"}', {"field": "maxUnsettled", "min": 1, "max": 10}),
        (b'{"maxUnsettled": 99999999999999999999999}', {"field": "maxUnsettled", "min": 1, "max": 10}),
        (b'{"max_unsettled": 1}', {"field": "max_unsettled"}),
        (b'{"maxUnsettled": 1, "maxUnsettled": 1}', {"field": "maxUnsettled"}),
        (b'{"events": [{}, {}, {}, {}]}', {"field": "events", "max": 3}),
        (b'{"events": [{}, {"time": 3}]}', {"field": "events[1].time"}),
        (b'{"events": [{}, {"tmie": ""}]}', {"field": "events[1].tmie"}),
        (b'{"events": [{"name": ""}]}', {"field": "events[0].name", "min": 1, "max": 5}),
        (b'{"events": [{"time": "\\u0000"}]}', {"field": "events[0].time"}),
        (b'{"events": [{"time": "\\ud83d"}]}', {"field": "events[0].time"}),
        (b'{"events": [{"time": "a", "time": "b"}]}', {"field": "events[0].time"}),
        (b'{"events": null}', {"field": "events", "max": 3}),
        (b'{"payload": "\\u0000"}', {"field": "payload"}),
        (b'{"documents": {"a\\u0000": 1}}', {"field": "documents.a\ufffd"}),
        (b'{"documents": {"a": 1, "a": 2}}', {"field": "documents.a"}),
        (b'{"\\ud83d": 1}', {"field": "\ufffd"}),
    ],
)
def test_a_field_that_is_wrong_is_named_by_its_path(raw, details):
    assert refused(InvalidField, body, raw) == details


@pytest.mark.parametrize(
    ("content_type", "headers"),
    [
        ("text/plain", {}),
        ("application/xml", {}),
        ("application/x-www-form-urlencoded", {}),
        ("multipart/form-data; boundary=x", {}),
        ("application/json; charset=utf-16", {}),
        ("application/json", {"Content-Encoding": "gzip"}),
        ("application/json", {"Content-Encoding": "br"}),
        ("application/json, application/json", {}),
    ],
)
def test_another_content_type_or_encoding_is_refused(content_type, headers):
    refused(UnsupportedMediaType, body, b"{}", content_type, **headers)


def test_json_in_utf_8_may_say_so_or_nothing():
    for content_type in ("", "application/json", 'Application/JSON; charset="UTF-8"', "application/json;charset=utf8"):
        body(b"{}", content_type)
    body(b"{}", "application/json", **{"Content-Encoding": "identity"})


@pytest.mark.parametrize("piece", [b'\\"', b'"', b"[]", b"[{},", b'{"a":', b'"[', b"\\", b'"\\"["'])
def test_four_megabytes_of_anything_are_looked_through_in_a_moment(piece):
    raw = (b'{"payload": "' + piece * (4_000_000 // len(piece)))[:4_000_000]
    started = time.process_time()
    refused(InvalidJson, body, raw)
    # A tenth of a second where the time grows with the length; hours where it grows with its square.
    assert time.process_time() - started < 20


def test_all_problems_of_a_body_are_told_at_once():
    with pytest.raises(InvalidField) as refused:
        body(b'{"maxUnsettled": 11, "payload": 1, "events": [{"name": ""}], "documents": null, "other": 1, "odd": 2}')
    details = refused.value.details
    told = {each["field"]: each for each in details["errors"]}
    assert set(told) == {"maxUnsettled", "payload", "events[0].name", "other", "odd"}
    assert (told["maxUnsettled"]["min"], told["maxUnsettled"]["max"]) == (1, 10)
    assert details["field"] in told and all(each["message"] for each in told.values())


@pytest.mark.parametrize(
    "raw", [b'{"maxUnsettled": 11}', rb'{"maxUnsettled": 11, "documents": {"a": "\ud83d"}}', b'{"odd": 1}']
)
def test_one_problem_alone_is_no_list(raw):
    with pytest.raises(InvalidField) as refused:
        body(raw)
    assert "errors" not in refused.value.details
