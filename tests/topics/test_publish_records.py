"""POST /v1/topics/{topic}/records."""

from typing import Any

import pytest
from django.db import connection

from tests.factories import Api, unique


@pytest.fixture
def records(api: Api) -> str:
    return f"/v1/topics/{unique('orders')}/records"


def test_it_answers_one_group_a_partition_in_order_of_first_appearance(api: Api, records: str) -> None:
    answer = api.post(
        records,
        [
            {"partitionKey": "a", "payload": "1"},
            {"partitionKey": "", "payload": "2"},
            {"partitionKey": "a", "payload": "3"},
        ],
    )
    assert answer.status_code == 202
    first, second = answer.json()
    load = first.pop("load")
    assert first == {
        "partition": 4,
        "success": True,
        "firstOffset": 0,
        "nextOffset": 2,
        "offsets": [0, 1],
        "accepted": 2,
        "duplicates": 0,
    }
    assert set(load) == {"hotRecords", "hotBytes", "recordsPerSecond", "backlog"}
    assert load["hotRecords"] == 2 and load["hotBytes"] > 0
    assert second["partition"] == 5 and second["offsets"] == [0]


def test_a_repeat_answers_the_first_position_even_with_another_body(api: Api, records: str) -> None:
    api.post(records, [{"partitionKey": "a", "payload": "1", "key": "k1"}, {"partitionKey": "a", "payload": "2"}])
    answer = api.post(
        records,
        [
            {"partitionKey": "a", "payload": "3", "key": "k2"},
            {"partitionKey": "a", "payload": "other", "key": "k1"},
            {"partitionKey": "a", "payload": "4", "key": "k2"},
            {"partitionKey": "a", "payload": "5"},
        ],
    ).json()[0]
    answer.pop("load")
    assert answer == {
        "partition": 4,
        "success": True,
        "firstOffset": 2,
        "nextOffset": 4,
        "offsets": [2, 0, 2, 3],
        "accepted": 2,
        "duplicates": 2,
    }


@pytest.mark.parametrize(
    "body, field",
    [
        ([{"payload": "1"}], "records[0].partitionKey"),
        ([{"partitionKey": "a", "payload": "1"}, {"partitionKey": "a"}], "records[1].payload"),
        ([{"partitionKey": "a", "payload": {}}], "records[0].payload"),
        ([{"partitionKey": 1, "payload": ""}], "records[0].partitionKey"),
        ([{"partitionKey": "x" * 2049, "payload": ""}], "records[0].partitionKey"),
        ([{"partitionKey": "a", "payload": "", "key": "x" * 2049}], "records[0].key"),
        ([{"partitionKey": "a", "payload": "", "kye": "x"}], "records[0].kye"),
        ('[{"partitionKey":"a","payload":"","payload":"1"}]', "records[0].payload"),
        (r'[{"partitionKey":"a","payload":"a\u0000"}]', "records[0].payload"),
        (r'[{"partitionKey":"a\u0000","payload":""}]', "records[0].partitionKey"),
        (r'[{"partitionKey":"\ud800","payload":""}]', "records[0].partitionKey"),
        ("[1]", "records[0]"),
        ("[]", ""),
        ("{}", ""),
        ("null", ""),
    ],
)
def test_a_malformed_record_refuses_all_and_is_named(api: Api, records: str, body: Any, field: str) -> None:
    answer = api.post(records, body)
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["field"] == field
    assert answer.json()["error"]["code"] == "INVALID_FIELD"


@pytest.mark.parametrize("body", [b"", b"[", b'["\xff"]', "[NaN]", b"[" * 20_000])
def test_what_is_no_json_is_refused(api: Api, records: str, body: Any) -> None:
    answer = api.post(records, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_JSON")


@pytest.mark.parametrize("text", ["", "\x01\x1f\x7f", "\\u0000", "é😀\u2028", '"\\', "x" * 2048])
def test_texts_come_back_unchanged(api: Api, records: str, text: str) -> None:
    assert api.post(records, [{"partitionKey": text, "payload": text, "key": text}]).status_code == 202
    topic = records.split("/")[3]
    bounds = api.get(f"/v1/topics/{topic}/bounds").json()
    partition = next(each["partition"] for each in bounds if each["nextOffset"])
    record = api.get(f"/v1/topics/{topic}/partitions/{partition}/records").json()["records"][0]
    assert (record["key"], record["body"]["partitionKey"], record["body"]["payload"]) == (text, text, text)


def test_an_oversize_record_rejects_its_group_only(api: Api, records: str) -> None:
    large = {"partitionKey": "a", "payload": "é" * (128 * 1024 + 1)}
    answer = api.post(records, [{"partitionKey": "a", "payload": ""}, {"partitionKey": "", "payload": ""}, large])
    assert answer.status_code == 409
    refused, written = answer.json()
    assert (refused["partition"], refused["success"], refused["error"]["code"]) == (4, False, "TOO_LARGE")
    assert refused["load"]["hotRecords"] == 0
    assert (written["partition"], written["success"]) == (5, True)
    assert api.post(records, [{"partitionKey": "a", "payload": "é" * (128 * 1024)}]).status_code == 202


def test_a_record_without_a_key_is_never_a_duplicate(api: Api, records: str) -> None:
    same = {"partitionKey": "a", "payload": "x"}
    assert api.post(records, [same, {**same, "key": None}, same]).json()[0]["accepted"] == 3


def test_the_empty_key_is_a_key(api: Api, records: str) -> None:
    same = {"partitionKey": "a", "payload": "x", "key": ""}
    assert api.post(records, [same, same]).json()[0]["offsets"] == [0, 0]


def test_other_content_types_are_refused(api: Api, records: str) -> None:
    assert api.post(records, "[]", content_type="text/plain").status_code == 415


def test_after_its_window_a_key_is_new_again(api: Api, records: str) -> None:
    topic = records.split("/")[3]
    api.post("/v1/topics", {"name": topic, "dedupWindowSeconds": 60})
    same = [{"partitionKey": "a", "payload": "x", "key": "k"}]
    api.post(records, same)
    for seconds, offsets in ((59, [0]), (61, [1]), (59, [1])):
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE dedup SET at = statement_timestamp() - make_interval(secs => %s)"
                ' WHERE "offset" = (SELECT max("offset") FROM dedup)',
                [seconds],
            )
        assert api.post(records, same).json()[0]["offsets"] == offsets


def test_a_key_is_known_when_its_event_is_gone(api: Api, records: str) -> None:
    same = [{"partitionKey": "a", "payload": "x", "key": "k"}]
    api.post(records, same)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE topic_partition SET hot_offset = 1, oldest_offset = 1 WHERE partition = 4")
        cursor.execute("DELETE FROM event")
    answer = api.post(records, [*same, {"partitionKey": "a", "payload": "y"}]).json()[0]
    assert answer["offsets"] == [0, 1]


def test_yesterdays_key_is_known(api: Api, records: str) -> None:
    same = [{"partitionKey": "a", "payload": "x", "key": "k"}]
    api.post(records, same)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE dedup SET day = day - 1, at = at - interval '23 hours 59 minutes'")
    assert api.post(records, same).json()[0]["offsets"] == [0]
