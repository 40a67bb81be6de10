"""POST /v1/topics/{topic}/events: structured, batched, binary; what is refused and how it is told."""

import json
from typing import Any

import pytest

from apps.topics.cloudevents.binary import REPEATED_KEY
from gateway import environ as environs
from tests.factories import Api, unique

ONE, BATCH = "application/cloudevents+json", "application/cloudevents-batch+json"


class Stream:
    """A topic of one partition: what is sent to it, and what it then holds."""

    def __init__(self, api: Api, partitions: int = 1) -> None:
        self.api = api
        self.name = unique("stream")
        assert api.post("/v1/topics", {"name": self.name, "partitions": partitions}).status_code == 201

    def send(self, body: Any, kind: str = ONE, **extra: Any) -> Any:
        return self.api.post(f"/v1/topics/{self.name}/events", body, content_type=kind, **extra)

    def bodies(self, partition: int = 0) -> list[str]:
        page = self.api.get(f"/v1/topics/{self.name}/partitions/{partition}/records?limit=1000").json()
        return [record["body"]["payload"] for record in page["records"]]

    def binary(self, body: bytes = b"", kind: str = "", **headers: str) -> Any:
        sent = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/s", "ce-type": "t"}
        sent |= {f"ce-{name}": value for name, value in headers.items()}
        return self.send(body, kind, headers=sent, **({"CONTENT_TYPE": kind} if kind else {}))


@pytest.fixture
def stream(api: Api) -> Stream:
    return Stream(api)


def event(**attributes: Any) -> dict[str, Any]:
    return {"specversion": "1.0", "id": "1", "source": "/s", "type": "t", **attributes}


def raw(member: str) -> str:
    """An event with one more member, as text."""
    return json.dumps(event())[:-1] + f", {member}}}"


def refused(answer: Any, field: str, code: str = "INVALID_EVENT") -> str:
    assert answer.status_code == 400, answer.content
    error = answer.json()["error"]
    assert (error["code"], error["details"].get("field")) == (code, field)
    return str(error["message"])


def test_it_answers_the_sequence(stream: Stream) -> None:
    answer = stream.send(event())
    assert answer.status_code == 202
    expected = {"id": "1", "sequence": "000.00000000000000000000", "duplicate": False}
    assert answer.json() == {"accepted": 1, "duplicates": 0, "events": [expected]}


def test_it_takes_plain_json_as_one_event(stream: Stream) -> None:
    assert stream.send(event(), "application/json; charset=utf-8").status_code == 202


def test_it_keeps_the_text_that_was_sent(stream: Stream) -> None:
    sent = '{ "specversion" : "1.0",\n "id":"1", "source":"/s","type":"t", "data" : {"a":1.0, "b":1E-400,"n":-0,"a":2} }'
    assert stream.send(f"  {sent}\n").status_code == 202
    assert stream.bodies() == [sent]


def test_a_batch_keeps_each_text_and_the_order(stream: Stream) -> None:
    sent = [json.dumps(event(id=str(number), data="ü" * number)) for number in range(50)]
    answer = stream.send("[" + " ,".join(sent) + "]", BATCH)
    assert [each["sequence"][-2:] for each in answer.json()["events"]] == [f"{number:02d}" for number in range(50)]
    assert stream.bodies() == sent


@pytest.mark.parametrize(
    "data",
    [
        r'{"a":"x\u0000y"}', r'{"k\u0000":1}', r'{"a":[{"b":"\u0000"}]}', r'{"a":"\\u0000"}', r'{"t":"\ud83d"}',
        r'{"t":"\ude4f\ud83d"}', r'{"t":"\ud83d\ude4f"}', '{"a":1,"a":2}', "123456789012345678901234567890", "null", '""',
        '{"v":1E-400}', '{"v":-0}', "[[[[[[[[[[1]]]]]]]]]]",
    ],
)  # fmt: skip
def test_inside_data_everything_that_is_json_comes_back_unchanged(stream: Stream, data: str) -> None:
    for kind, text in ((ONE, raw(f'"data":{data}')), (BATCH, "[" + raw(f'"subject":"b","data":{data}') + "]")):
        assert stream.send(text, kind).status_code == 202
    stored = stream.bodies()
    assert stored[0] == raw(f'"data":{data}')


@pytest.mark.parametrize("data", ['{"v":NaN}', '{"v":-Infinity}', '{"v":1e400}', "1" * 400, "[1,]", '"\x01"', "[" * 3000])
def test_what_is_no_json_of_finite_numbers_is_refused(stream: Stream, data: str) -> None:
    for kind, text in ((ONE, raw(f'"data":{data}')), (BATCH, "[" + raw(f'"data":{data}') + "]")):
        answer = stream.send(text, kind)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_JSON")
    assert stream.bodies() == []


@pytest.mark.parametrize("body", [b'"\xff"', b"\xef\xbb\xbf{}", '{"a":1}'.encode("utf-16"), b"", b"{", b"[" * 20_000])
@pytest.mark.parametrize("kind", [ONE, BATCH])
def test_what_is_no_json_in_utf8_is_refused(stream: Stream, body: bytes, kind: str) -> None:
    answer = stream.send(body, kind)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_JSON")


@pytest.mark.parametrize("body", ["[]", "[1]", '"x"', "null", "true", "0", "{}"])
@pytest.mark.parametrize("kind", [ONE, BATCH, "application/json"])
def test_another_shape_is_refused(stream: Stream, body: str, kind: str) -> None:
    assert stream.send(body, kind).status_code == 400


def test_two_events_side_by_side_are_no_event(stream: Stream) -> None:
    for between in (",", ", ", "\n", ""):
        answer = stream.send(f"{json.dumps(event())}{between}{json.dumps(event(id='2'))}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_JSON")
    assert stream.bodies() == []


def test_depth_is_counted_per_event(stream: Stream) -> None:
    deepest = "[" * 63 + "]" * 63
    assert stream.send(raw(f'"data":{deepest}')).status_code == 202
    assert stream.send("[" + raw(f'"subject":"{"[" * 99}","data":{deepest}') + "]", BATCH).status_code == 202
    assert stream.send(raw(f'"data":[{deepest}]')).json()["error"]["code"] == "INVALID_JSON"
    assert stream.send("[" + raw(f'"data":[{deepest}]') + "]", BATCH).json()["error"]["code"] == "INVALID_JSON"


@pytest.mark.parametrize(
    "member, field",
    [
        ('"id":"2"', "id"), (r'"\u0069d":"2"', "id"), ('"data":1,"data":2', "data"), (r'"subject":"a\u0000"', "subject"),
        (r'"subject":"\ud800"', "subject"), (r'"subject":"a\r\nb"', "subject"), ('"subject":""', "subject"),
        ('"subject":1', "subject"), ('"time":"2026-07-16"', "time"), ('"sequence":"1"', "sequence"),
        ('"example-extension":"x"', "example-extension"), ('"event_source":"x"', "event_source"),
        ('"dataContentType":"x/y"', "dataContentType"), ('"Traceparent":"x"', "Traceparent"), ('"":1', ""),
        ('"ext":{}', "ext"), ('"ext":[]', "ext"), ('"ext":2147483648', "ext"), ('"ext":1.5', "ext"), ('"ext":1.0', "ext"),
        ('"data":1,"data_base64":"AA=="', "data_base64"), ('"data_base64":"a"', "data_base64"),
        ('"data_base64":1', "data_base64"),
        ('"datacontenttype":"json"', "datacontenttype"), (f'"partitionkey":"{"x" * 2049}"', "partitionkey"),
    ],
)  # fmt: skip
def test_the_attribute_that_breaks_a_rule_is_named(stream: Stream, member: str, field: str) -> None:
    refused(stream.send(raw(member)), field)
    refused(stream.send(f"[{json.dumps(event())}, {raw(member)}]", BATCH), f"events[1].{field}")
    assert stream.bodies() == []


def test_a_name_that_is_not_allowed_is_told_with_the_rule(stream: Stream) -> None:
    message = refused(stream.send(raw('"dataContentType":"a/b"')), "dataContentType")
    assert "dataContentType" in message and "lower-case" in message


@pytest.mark.parametrize("missing", ["specversion", "id", "source", "type"])
@pytest.mark.parametrize("value", [None, "", 1, {}])
def test_what_is_required_is_a_text(stream: Stream, missing: str, value: Any) -> None:
    refused(stream.send(event(**{missing: value})), missing)
    refused(stream.send([event(**{missing: value})], BATCH), f"events[0].{missing}")


@pytest.mark.parametrize(
    "member",
    ['"ext":true', '"ext":-2147483648', '"ext":"é"', '"ext":null', '"x2":""', f'"{"x" * 200}":1', '"subject":"9e83471310"',
     f'"subject":"{"é" * 4000}"', '"partitionkey":"k"', '"subject":null', '"time":null'],
)  # fmt: skip
def test_what_the_rules_allow_comes_back_unchanged(stream: Stream, member: str) -> None:
    assert stream.send(raw(member)).status_code == 202
    assert stream.bodies() == [raw(member)]


GOOD_TIMES = [
    "2026-07-16T13:53:54Z", "2026-07-16t13:53:54.123456789z", "2026-02-28T00:00:00+14:00", "2028-02-29T23:59:59.5-00:00",
    "2026-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z",
]  # fmt: skip
BAD_TIMES = [
    "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+01:00", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00+99:00",
    "2026-07-16T13:53:54.5America/Los_Angeles", "2026-07-16T13:53Z", "2026-07-16 13:53:54Z", "2016-12-31T23:59:60Z",
    "2026-07-16T13:53:54", "2026-02-30T00:00:00Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "0000-01-01T00:00:00Z",
    "2026-04-31T00:00:00Z", "٢٠٢٦-01-01T00:00:00Z", "1790000000", "2026-07-16T13:53:54Z ",
]  # fmt: skip


@pytest.mark.parametrize("time", GOOD_TIMES)
def test_rfc_3339_is_taken(stream: Stream, time: str) -> None:
    assert stream.send(event(time=time)).status_code == 202


@pytest.mark.parametrize("time", BAD_TIMES)
def test_other_times_are_refused(stream: Stream, time: str) -> None:
    refused(stream.send(event(time=time)), "time")
    refused(stream.send([event(), event(time=time)], BATCH), "events[1].time")


def test_time_is_not_added(stream: Stream) -> None:
    stream.send(event())
    assert "time" not in json.loads(stream.bodies()[0])


def test_a_repeat_of_source_and_id_answers_the_first_position(stream: Stream) -> None:
    stream.send(event(data=1))
    again = stream.send([event(data=2), event(source="/other"), event(id="2"), event(id="2", data=9)], BATCH).json()
    assert (again["accepted"], again["duplicates"]) == (2, 2)
    assert [(each["sequence"][-1], each["duplicate"]) for each in again["events"]] == [
        ("0", True), ("1", False), ("2", False), ("2", True),
    ]  # fmt: skip


def test_records_and_events_have_separate_name_spaces(stream: Stream) -> None:
    stream.send(event(id="k"))
    records = f"/v1/topics/{stream.name}/records"
    for key in ("k", '["/s","k"]'):
        assert stream.api.post(records, [{"partitionKey": "a", "payload": "", "key": key}]).json()[0]["duplicates"] == 0


def test_dedup_is_per_partition(api: Api) -> None:
    stream = Stream(api, 8)
    stream.send(event(partitionkey="a"))
    assert stream.send(event(partitionkey="sku-123")).json()["duplicates"] == 0


def test_it_goes_by_partitionkey_else_subject_else_id(api: Api) -> None:
    stream = Stream(api, 8)
    sent = [event(partitionkey="a", subject="sku-123"), event(subject="sku-123"), event(id="customer-42")]
    answer = stream.send(sent, BATCH).json()
    assert [each["sequence"][:3] for each in answer["events"]] == ["004", "005", "002"]


def test_an_oversize_event_rejects_its_group_only(api: Api) -> None:
    stream = Stream(api, 8)
    large = event(id="large", partitionkey="a", data="x" * 256 * 1024)
    sent = [event(id="1", partitionkey="a"), large, event(id="2", partitionkey="sku-123")]
    answer = stream.send(sent, BATCH)
    assert answer.status_code == 409
    first, second, third = answer.json()["events"]
    assert first["error"]["code"] == second["error"]["code"] == "TOO_LARGE"
    assert third["sequence"] == "005.00000000000000000000"
    assert (stream.bodies(4), len(stream.bodies(5))) == ([], 1)


def test_size_is_of_the_text_in_utf8(stream: Stream) -> None:
    frame = len(json.dumps(event(data="")))
    fitting = json.dumps(event(data="é" * ((256 * 1024 - frame) // 2)), ensure_ascii=False)
    assert stream.send(fitting.encode()).status_code == 202
    assert stream.send(fitting.replace('"id": "1"', '"id": "22"').replace("é", "éé", 1).encode()).status_code == 409


def test_a_batch_has_at_most_a_thousand_events(stream: Stream) -> None:
    sent = [event(id=str(number)) for number in range(1001)]
    assert stream.send(sent, BATCH).json()["error"]["details"] == {"field": "", "min": 1, "max": 1000}
    assert stream.send(sent[:1000], BATCH).json()["accepted"] == 1000


@pytest.mark.parametrize("kind", ["text/plain", "application/cloudevents+xml", "application/json; charset=utf-16", "x"])
def test_other_content_types_are_refused(stream: Stream, kind: str) -> None:
    assert stream.send(event(), kind).status_code == 415


def test_content_encodings_are_refused(stream: Stream) -> None:
    assert stream.send(event(), headers={"content-encoding": "gzip"}).status_code == 415
    headers = {"ce-id": "1", "content-encoding": "br"}
    assert stream.send(b"", "text/plain", headers=headers).status_code == 415


@pytest.mark.parametrize(
    "kind, body, member",
    [
        ("application/json", b' {"a":1.0} ', {"data": {"a": 1.0}}),
        ("", b"[1]", {"data": [1]}),
        ("application/problem+json", b"null", {"data": None}),
        ("text/plain; charset=utf-8", "é\x00\n".encode(), {"data": "é\x00\n"}),
        ("application/octet-stream", b"\x00\xff", {"data_base64": "AP8="}),
        ("image/png", b"", {}),
    ],
)
def test_binary_mode_makes_the_body_the_data(stream: Stream, kind: str, body: bytes, member: dict[str, Any]) -> None:
    assert stream.binary(body, kind).status_code == 202
    expected = event(**({"datacontenttype": kind} if kind else {}), **member)
    assert json.loads(stream.bodies()[0]) == expected


@pytest.mark.parametrize(
    "sent, stored",
    [
        ("a%20b", "a b"),
        ("100%25", "100%"),
        ("100%", "100%"),
        ("%E2%82%AC", "€"),
        ("%zz", "%zz"),
        ("é".encode().decode("latin-1"), "é"),
    ],
)
def test_header_values_are_percent_decoded(stream: Stream, sent: str, stored: str) -> None:
    assert stream.binary(subject=sent).status_code == 202
    assert json.loads(stream.bodies()[0])["subject"] == stored


@pytest.mark.parametrize(
    "name, value",
    [
        ("time", "2026-07-16 13:53:54Z"), ("event-source", "x"), ("datacontenttype", "text/plain"), ("sequence", "1"),
        ("subject", "%ff"), ("subject", "a%00"), ("subject", "a%0d%0ab"), ("data", "x"), ("id", ""), ("specversion", "0.3"),
    ],
)  # fmt: skip
def test_a_bad_header_is_named(stream: Stream, name: str, value: str) -> None:
    refused(stream.binary(**{name: value}), f"ce-{name}")
    assert stream.bodies() == []


def test_a_header_given_twice_is_refused(stream: Stream) -> None:
    sent = [(b"ce-id", b"1"), (b"ce-type", b"t"), (b"ce-id", b"2")]
    scope = {"method": "POST", "http_version": "1.1", "scheme": "http", "path": "/", "query_string": b"", "headers": sent}
    environ = environs.build(scope, b"")
    answer = stream.send(b"", "", headers={"ce-id": environ["HTTP_CE_ID"]}, **{REPEATED_KEY: environ[REPEATED_KEY]})
    refused(answer, "ce-id")


def test_binary_data_is_checked_like_any(stream: Stream) -> None:
    for body in (b"{", b'{"a":NaN}', b"\xff", b"1e400"):
        assert stream.binary(body, "application/json").json()["error"]["code"] == "INVALID_JSON"


def test_parameters_are_refused(stream: Stream) -> None:
    answer = stream.api.post(f"/v1/topics/{stream.name}/events?x=1", event(), content_type=ONE)
    refused(answer, "x", "INVALID_PARAMETER")


def test_a_header_with_an_underscore_is_refused_by_its_name(stream: Stream) -> None:
    """The gateway passes no such header on, and names it instead."""
    headers = [(b"ce-specversion", b"1.0"), (b"ce-id", b"1"), (b"ce-source", b"/s"), (b"ce-type", b"t")]
    for header in ("ce-foo_bar", "ce-data_base64"):
        scope = {"method": "POST", "path": "/", "query_string": b"", "http_version": "1.1", "scheme": "http"}
        built = environs.build({**scope, "headers": [*headers, (header.encode(), b"x"), (b"x_other", b"y")]}, b"")
        assert "HTTP_CE_FOO_BAR" not in built
        refused(
            stream.send(b"", "", **{key: value for key, value in built.items() if key[:8] in ("HTTP_CE_", "towpath.")}),
            header,
        )
    assert stream.bodies() == []


@pytest.mark.parametrize("time", ["2026-01-01T00:00:00.1234567890Z", "2026-01-01T00:00:00." + "9" * 40 + "+02:00"])
def test_a_time_may_be_finer_than_it_can_be_kept_and_stays_as_it_was_sent(stream: Stream, time: str) -> None:
    assert stream.send(event(time=time)).status_code == 202
    assert json.loads(stream.bodies()[0])["time"] == time


def test_a_leap_second_is_no_time_that_can_be_kept(stream: Stream) -> None:
    refused(stream.send(event(time="2016-12-31T23:59:60Z")), "time")


def test_a_partition_key_that_is_too_long_is_told_how_long_it_may_be(stream: Stream) -> None:
    answer = stream.send(event(partitionkey="k" * 2049))
    refused(answer, "partitionkey")
    assert answer.json()["error"]["details"]["max"] == 2048
