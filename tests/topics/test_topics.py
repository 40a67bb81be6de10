"""Making, listing, changing and deleting topics."""

import json
import threading
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings

from apps.access.models import Audit
from apps.destinations.models import Destination
from apps.topics.models import DeletedTopic, Topic
from apps.topics.operations.delete import sweep_deleted
from apps.topics.operations.forget import forget_keys
from core.ids import uuid7
from tests.factories import Api, unique

CONNECTION = ("dbname", "user", "password", "host", "port")


def rows(table: str, topic_id: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table} WHERE topic_id = %s", [topic_id])
        return int(cursor.fetchone()[0])


def publish(api: Api, name: str, *keys: str) -> Any:
    return api.post(f"/v1/topics/{name}/records", [{"partitionKey": key, "payload": "x", "key": key} for key in keys])


def test_a_topic_shows_every_field_it_takes(api: Api) -> None:
    name = unique("orders")
    answer = api.post("/v1/topics", {"name": name})
    assert answer.status_code == 201
    topic = answer.json()
    assert answer.headers["Location"] == f"/v1/topics/{topic['id']}"
    assert topic == api.get(f"/v1/topics/{name}").json() == api.get(answer.headers["Location"]).json()
    assert set(topic) == {
        "id", "name", "partitions", "hash", "dedupWindowSeconds", "retention", "maxHotRecords", "maxHotBytes",
        "maxRecordsPerSecond", "maxBacklog", "createdAt", "updatedAt",
    }  # fmt: skip
    assert (topic["partitions"], topic["hash"], topic["dedupWindowSeconds"]) == (8, "fnv1a-utf16-v1", 86_400)
    assert topic["retention"]["hot"] == {"seconds": 604_800, "records": 50_000, "bytes": 268_435_456}


@pytest.mark.parametrize(
    "body, field, bounds",
    [
        ({"name": "a/b"}, "name", {}), ({"name": ".."}, "name", {}), ({"name": "a b"}, "name", {}),
        ({"name": "é"}, "name", {}),
        ({"name": "x" * 201}, "name", {}), ({"name": "0190b5a4-0000-7000-8000-000000000000"}, "name", {}), ({}, "name", {}),
        ({"name": "a", "partitions": 0}, "partitions", {"min": 1, "max": 256}),
        ({"name": "a", "partitions": 257}, "partitions", {"min": 1, "max": 256}),
        ({"name": "a", "partitions": True}, "partitions", {"min": 1, "max": 256}),
        ({"name": "a", "partitions": 1.0}, "partitions", {"min": 1, "max": 256}),
        ({"name": "a", "dedupWindowSeconds": 59}, "dedupWindowSeconds", {"min": 60, "max": 2_592_000}),
        ({"name": "a", "dedupWindowSeconds": None}, "dedupWindowSeconds", {"min": 60, "max": 2_592_000}),
        ({"name": "a", "partition": 3}, "partition", {}), ({"name": "a", "hash": "md5"}, "hash", {}),
        ({"name": "a", "retention": {"onLag": "drop"}}, "retention.onLag", {}),
        ({"name": "a", "maxBacklog": -1}, "maxBacklog", {"min": 0, "max": 1_000_000}),
    ],
)  # fmt: skip
def test_what_is_out_of_range_or_unknown_is_named(
    api: Api, body: dict[str, Any], field: str, bounds: dict[str, int]
) -> None:
    before = Topic.objects.count()
    answer = api.post("/v1/topics", body)
    assert answer.status_code == 400
    assert answer.json()["error"]["details"] == {"field": field, **bounds}
    assert Topic.objects.count() == before


@pytest.mark.parametrize("name", ["a.b", "a:b", "new", "add", "history", "x" * 200, "-", "_", "json", "FOO"])
def test_whatever_can_be_made_can_be_fetched_changed_and_deleted(api: Api, name: str) -> None:
    assert api.post("/v1/topics", {"name": name, "partitions": 2}).status_code == 201
    assert api.patch(f"/v1/topics/{name}", {"dedupWindowSeconds": 60}).json()["dedupWindowSeconds"] == 60
    assert publish(api, name, "k").status_code == 202
    assert api.delete(f"/v1/topics/{name}").status_code == 204
    assert api.get(f"/v1/topics/{name}").status_code == 404


def test_a_name_is_taken_once_and_case_counts(api: Api) -> None:
    name = unique("orders")
    assert api.post("/v1/topics", {"name": name}).status_code == 201
    assert api.post("/v1/topics", {"name": name}).json()["error"]["code"] == "NAME_TAKEN"
    assert api.post("/v1/topics", {"name": name.upper()}).status_code == 201


@pytest.mark.parametrize("field", ["partitions", "hash", "name"])
def test_what_is_fixed_cannot_be_changed(api: Api, field: str) -> None:
    name = unique("orders")
    api.post("/v1/topics", {"name": name})
    answer = api.patch(f"/v1/topics/{name}", {field: 3})
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, field)


def test_a_list_holds_matching_names_only_page_by_page(api: Api, api_with: Any) -> None:
    word = unique("list")
    for number in range(5):
        api.post("/v1/topics", {"name": f"{word}.{number}", "partitions": 1})
    narrow = api_with(f"read:events {word}.*")
    first = narrow.get("/v1/topics?limit=3").json()
    assert [topic["name"] for topic in first["items"]] == [f"{word}.{number}" for number in range(3)]
    rest = narrow.get(f"/v1/topics?limit=3&cursor={first['nextCursor']}").json()
    assert ([topic["name"] for topic in rest["items"]], rest["nextCursor"]) == ([f"{word}.3", f"{word}.4"], None)
    assert len(narrow.get(f"/v1/topics?name={word}.2").json()["items"]) == 1
    assert narrow.get("/v1/topics?name=").json()["error"]["details"]["field"] == "name"
    assert narrow.get("/v1/topics?nmae=x").json()["error"]["details"]["field"] == "nmae"
    assert narrow.get("/v1/topics?limit=0").json()["error"]["details"] == {"field": "limit", "min": 1, "max": 200}


def test_the_first_write_makes_the_topic_without_the_scope_to_manage(api_with: Any) -> None:
    name = unique("shop.orders")
    writer = api_with("write:events shop.*")
    assert publish(writer, name, "k").status_code == 202
    assert Topic.objects.get(name=name).partitions == 8
    assert publish(writer, unique("other"), "k").status_code == 404
    assert publish(api_with("read:events"), name, "k").status_code == 403


def test_an_installation_can_turn_that_off(api: Api) -> None:
    name = unique("orders")
    with override_settings(TOWPATH={**settings.TOWPATH, "CREATE_TOPICS_ON_USE": False}):
        assert publish(api, name, "k").status_code == 404
    assert not Topic.objects.filter(name=name).exists()


@pytest.mark.parametrize("name", ["0190b5a4-0000-7000-8000-000000000000", "a%20b", "%C3%A9", "x" * 201])
def test_no_topic_is_made_that_could_not_be_named(api: Api, name: str) -> None:
    assert publish(api, name, "k").status_code in (400, 404)
    assert not Topic.objects.exists()


def test_a_refused_body_makes_no_topic(api: Api) -> None:
    name = unique("orders")
    assert api.post(f"/v1/topics/{name}/records", [{}]).status_code == 400
    assert not Topic.objects.filter(name=name).exists()


def test_it_is_reached_by_id_within_the_patterns_of_its_name(api: Api, api_with: Any) -> None:
    name = unique("orders")
    identifier = api.post("/v1/topics", {"name": name}).json()["id"]
    assert api_with(f"read:events {name}").get(f"/v1/topics/{identifier}").status_code == 200
    assert api_with("read:events other.*").get(f"/v1/topics/{identifier}").status_code == 404
    assert publish(api, identifier, "k").status_code == 202


def test_made_again_it_is_another_topic_from_offset_0(api: Api) -> None:
    name = unique("orders")
    before = api.post("/v1/topics", {"name": name}).json()["id"]
    publish(api, name, "a", "a2")
    assert api.delete(f"/v1/topics/{name}").status_code == 204
    assert publish(api, name, "a").json()[0]["offsets"] == [0]
    assert api.get(f"/v1/topics/{name}").json()["id"] != before
    assert api.get(f"/v1/topics/{before}").status_code == 404


def test_the_sweep_removes_what_a_deleted_topic_leaves(api: Api) -> None:
    name = unique("orders")
    publish(api, name, *(f"k{number}" for number in range(40)))
    topic = Topic.objects.get(name=name)
    api.delete(f"/v1/topics/{name}")
    assert rows("event", topic.id) == 40
    assert sweep_deleted() == 80
    assert (rows("event", topic.id), rows("dedup", topic.id), rows("topic_partition", topic.id)) == (0, 0, 0)
    assert not DeletedTopic.objects.filter(removed_at=None).exists()


def test_every_change_is_on_record(api: Api) -> None:
    name = unique("orders")
    api.post("/v1/topics", {"name": name})
    api.patch(f"/v1/topics/{name}", {"dedupWindowSeconds": 3600})
    api.delete(f"/v1/topics/{name}")
    trail = Audit.objects.filter(object_name=name).order_by("id")
    assert [row.verb for row in trail] == ["create", "change", "delete"]
    assert json.loads(json.dumps([trail[1].before, trail[1].after])) == [
        {"dedup_seconds": 86_400}, {"dedup_seconds": 3600},
    ]  # fmt: skip


def test_a_body_where_none_is_read_is_refused(api: Api) -> None:
    name = unique("orders")
    api.post("/v1/topics", {"name": name})
    assert api.delete(f"/v1/topics/{name}", {}).status_code == 400
    assert api.get(f"/v1/topics/{name}").status_code == 200


def test_days_of_keys_that_no_window_reaches_are_dropped(api: Api) -> None:
    api.post("/v1/topics", {"name": unique("orders"), "dedupWindowSeconds": 3 * 86_400})
    with connection.cursor() as cursor:
        for age in (2, 3, 4, 5):
            cursor.execute(
                "SELECT to_char(day, 'YYYYMMDD'), day, day + 1 FROM"
                " (SELECT (statement_timestamp() AT TIME ZONE 'UTC')::date - %s::int AS day) AS past",
                [age],
            )
            name, first, end = cursor.fetchone()
            cursor.execute(f"CREATE TABLE dedup_{name} PARTITION OF dedup FOR VALUES FROM ('{first}') TO ('{end}')")
        forget_keys()
        cursor.execute("SELECT count(*) FROM pg_inherits WHERE inhparent = 'dedup'::regclass")
        left = cursor.fetchone()[0]
    # today and 30 days ahead, the default, and the days back to which a window of three days may reach
    assert left == 31 + 1 + 3


def test_a_topic_that_is_read_cannot_be_deleted(api: Api) -> None:
    name = unique("orders")
    publish(api, name, "k")
    reader = Destination.objects.create(
        uid=uuid7(), name=unique("reader"), topic=Topic.objects.get(name=name), consumer_id=1
    )
    answer = api.delete(f"/v1/topics/{name}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "TOPIC_IN_USE")
    assert publish(api, name, "k").json()[0]["duplicates"] == 1
    reader.delete()
    assert api.delete(f"/v1/topics/{name}").status_code == 204


@pytest.mark.django_db(transaction=True)
def test_a_reader_that_comes_while_the_topic_goes_is_not_left_without_it(api: Api) -> None:
    name = unique("orders")
    publish(api, name, "k")
    topic = Topic.objects.get(name=name)
    parameters = {key: value for key, value in connection.get_connection_params().items() if key in CONNECTION}
    with psycopg.connect(**parameters) as other:
        other.execute(
            "INSERT INTO destination (uid, name, type, topic_id, consumer_id, settings, created_at, updated_at)"
            " VALUES (gen_random_uuid(), %s, 'DURABLE_CONSUMER', %s, 1, '{}', statement_timestamp(), statement_timestamp())",
            (name, topic.id),
        )
        other.execute("SET CONSTRAINTS ALL IMMEDIATE")
        threading.Timer(0.2, other.commit).start()
        assert api.delete(f"/v1/topics/{name}").json()["error"]["code"] == "TOPIC_IN_USE"
    assert Topic.objects.filter(name=name).exists() and rows("topic_partition", topic.id) == 8
