"""Reading a partition without a group, its bounds and its load."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection

from apps.topics.cloudevents.answer import cloud_event
from apps.topics.cold.segment import LogRow
from apps.topics.items import RECORD
from apps.topics.models import Topic
from apps.topics.selectors.resolve import TopicRef
from core.ids import uuid7
from tests.factories import Api, unique


@pytest.fixture
def topic(api: Api) -> str:
    name = unique("log")
    api.post("/v1/topics", {"name": name, "partitions": 1})
    return name


def fill(api: Api, topic: str, *payloads: str) -> None:
    api.post(f"/v1/topics/{topic}/records", [{"partitionKey": "a", "payload": payload} for payload in payloads])


def browse(api: Api, topic: str, query: str = "", partition: int | str = 0) -> Any:
    return api.get(f"/v1/topics/{topic}/partitions/{partition}/records{query}")


def expire(topic: str, oldest: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE topic_partition SET hot_offset = %s, oldest_offset = %s WHERE topic_id = %s",
            [oldest, oldest, Topic.objects.get(name=topic).id],
        )
        cursor.execute('DELETE FROM event WHERE topic_id = %s AND "offset" < %s', [Topic.objects.get(name=topic).id, oldest])


def test_a_page_is_contiguous_and_says_where_to_go_on_and_what_remains(api: Api, topic: str) -> None:
    fill(api, topic, *(str(number) for number in range(10)))
    page = browse(api, topic, "?from=3&limit=4").json()
    assert [record["offset"] for record in page["records"]] == [3, 4, 5, 6]
    assert (page["partition"], page["nextOffset"], page["lag"]) == (0, 7, 3)
    first = page["records"][0]
    assert first["body"] == {"topic": topic, "partitionKey": "a", "payload": "3"}
    assert set(first) == {"offset", "appendedAt", "body"}


def test_it_starts_at_the_oldest_and_ends_at_the_head(api: Api, topic: str) -> None:
    assert browse(api, topic).json() == {"partition": 0, "records": [], "nextOffset": 0, "lag": 0}
    fill(api, topic, "a", "b")
    assert browse(api, topic).json()["nextOffset"] == 2
    assert browse(api, topic, "?from=2").json() == {"partition": 0, "records": [], "nextOffset": 2, "lag": 0}


def test_an_event_as_a_record_has_its_json_as_payload_and_its_id_as_key(api: Api, topic: str) -> None:
    event = {"specversion": "1.0", "id": "e1", "source": "/s", "type": "t", "subject": "sku", "data": {"é": "\u2028"}}
    api.post(f"/v1/topics/{topic}/events", event)
    record = browse(api, topic).json()["records"][0]
    assert (record["key"], record["body"]["partitionKey"]) == ("e1", "sku")
    assert record["body"]["payload"] == json.dumps(event)


@pytest.mark.parametrize(
    "query, details",
    [
        ("?from=3", {"field": "from", "min": 0, "max": 2}), ("?from=-1", {"field": "from"}), ("?from=x", {"field": "from"}),
        ("?from=99999999999999999999", {"field": "from"}), ("?from=1&from=1", {"field": "from"}),
        ("?form=1", {"field": "form"}),
        ("?limit=0", {"field": "limit", "min": 1, "max": 1000}), ("?limit=1001", {"field": "limit", "min": 1, "max": 1000}),
        ("?limit=1e3", {"field": "limit"}), ("?limit=", {"field": "limit"}), ("?limit=%D9%A1", {"field": "limit"}),
    ],
)  # fmt: skip
def test_parameters_are_read_strictly(api: Api, topic: str, query: str, details: dict[str, Any]) -> None:
    fill(api, topic, "a", "b")
    answer = browse(api, topic, query)
    assert answer.status_code == 400
    assert details.items() <= answer.json()["error"]["details"].items()


@pytest.mark.parametrize("partition", ["1", "256", "99999", "99999999999999999999", "-1", "x"])
def test_a_partition_that_is_not_there_is_not_found(api: Api, topic: str, partition: str) -> None:
    for tail in ("records", "bounds", "load"):
        assert api.get(f"/v1/topics/{topic}/partitions/{partition}/{tail}").status_code == 404


def test_below_the_oldest_is_gone_and_says_where_to_go_on(api: Api, topic: str) -> None:
    fill(api, topic, *"abcdef")
    expire(topic, 4)
    answer = browse(api, topic, "?from=3")
    assert (answer.status_code, answer.json()["error"]["code"]) == (410, "CURSOR_EXPIRED")
    assert answer.json()["error"]["details"]["oldestOffset"] == 4
    assert [record["offset"] for record in browse(api, topic).json()["records"]] == [4, 5]


def test_offsets_go_on_where_they_were_when_nothing_is_left(api: Api, topic: str) -> None:
    fill(api, topic, *"abc")
    expire(topic, 3)
    fill(api, topic, "d")
    assert [record["offset"] for record in browse(api, topic).json()["records"]] == [3]


def test_a_hole_is_an_error_never_a_skip(api: Api, topic: str) -> None:
    fill(api, topic, *"abcd")
    with connection.cursor() as cursor:
        cursor.execute('DELETE FROM event WHERE topic_id = %s AND "offset" = 1', [Topic.objects.get(name=topic).id])
    assert browse(api, topic).status_code == 503
    assert browse(api, topic, "?from=1").status_code == 503
    assert browse(api, topic, "?from=2").status_code == 200


def test_a_page_stays_under_4_mib_but_never_below_one_record(api: Api, topic: str) -> None:
    for _ in range(20):
        fill(api, topic, "\x01" * 250_000)
    answer = browse(api, topic, "?limit=1000")
    assert len(answer.content) <= 4 * 1024 * 1024
    assert answer.json()["nextOffset"] == len(answer.json()["records"]) == 2
    assert browse(api, topic, "?from=19").json()["lag"] == 0


def test_bounds_and_load_come_for_one_partition_and_for_all(api: Api) -> None:
    name = unique("log")
    api.post("/v1/topics", {"name": name, "partitions": 3})
    assert api.get(f"/v1/topics/{name}/partitions/1/bounds").json() == {
        "partition": 1, "oldestOffset": 0, "hotOffset": 0, "nextOffset": 0, "replayableSince": None,
    }  # fmt: skip
    group = api.post(f"/v1/topics/{name}/records", [{"partitionKey": "a", "payload": "x"}] * 3).json()[0]
    all_bounds = api.get(f"/v1/topics/{name}/bounds").json()
    assert [bounds["partition"] for bounds in all_bounds] == [0, 1, 2]
    one = api.get(f"/v1/topics/{name}/partitions/{group['partition']}/bounds").json()
    assert one == all_bounds[group["partition"]]
    assert one["nextOffset"] == 3 and one["replayableSince"].endswith("Z")
    load = api.get(f"/v1/topics/{name}/partitions/{group['partition']}/load").json()
    assert (load["hotRecords"], load["hotBytes"]) == (3, group["load"]["hotBytes"])
    assert api.get(f"/v1/topics/{name}/load").json()[group["partition"]]["hotRecords"] == 3


def test_reading_needs_the_scope_and_the_pattern(api_with: Any, api: Api, topic: str) -> None:
    for path in ("records", "bounds", "load"):
        assert api_with("write:events").get(f"/v1/topics/{topic}/partitions/0/{path}").status_code == 403
        assert api_with("read:events other").get(f"/v1/topics/{topic}/partitions/0/{path}").status_code == 404


@pytest.mark.parametrize("number", ["00", "02", "-1", "+1", "1.0", "٢", "9" * 30])
@pytest.mark.parametrize("tail", ["records", "bounds", "load", "consume"])
def test_a_partition_has_one_address(api, number, tail):
    name = unique("topic")
    api.post("/v1/topics", {"name": name, "partitions": 4})
    assert api.get(f"/v1/topics/{name}/partitions/2/{tail}").status_code == 200
    assert api.get(f"/v1/topics/{name}/partitions/{number}/{tail}").status_code == 404


def test_a_record_with_the_empty_key_is_an_event_without_the_attributes_of_a_key(api):
    """So an export holds only valid events; what is leased is shown by a statement of its own."""
    found = TopicRef(1, uuid7(), "t", 1, 60)
    shown = [
        json.loads(cloud_event(found, 0, LogRow(0, datetime.now(UTC), 1, RECORD, key, None, None, None, None, "p")))
        for key in ("", "k")
    ]
    assert [one.get("partitionkey") for one in shown] == [one.get("subject") for one in shown] == [None, "k"]
    assert all(one["data"] == "p" and "" not in one.values() for one in shown)
