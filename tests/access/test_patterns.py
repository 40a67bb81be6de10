"""A pattern has to match every name a call touches; what it does not match does not exist, and lists do not show it."""

import pytest

pytestmark = pytest.mark.django_db
TOPIC = {"name": "orders"}
CONSUMER = {"type": "DURABLE_CONSUMER", "topic": "orders"}


@pytest.fixture
def things(api):
    for name in ("orders", "billing"):
        assert api.post("/v1/topics", {"name": name}).status_code == 201
        assert api.post("/v1/event-destinations", {**CONSUMER, "name": f"{name}-copy", "topic": name}).status_code == 201
        assert api.post("/v1/event-queues", {"name": name}).status_code == 201
        schedule = {"name": f"{name}-daily", "queue": name, "payload": {}, "everySeconds": 86_400, "enabled": False}
        assert api.post("/v1/schedules", schedule).status_code == 201


def items(answer):
    body = answer.json()
    return {item["name"] for item in body.get("data", body)["items"]}


def test_lists_show_matching_names_only(api_with, things):
    narrow = api_with("read:events orders*", "read:queues orders*")
    assert items(narrow.get("/v1/topics")) == {"orders"}
    assert items(narrow.get("/v1/event-destinations")) == {"orders-copy"}
    assert items(narrow.get("/v1/event-queues")) == {"orders"}
    assert items(narrow.get("/v1/schedules")) == {"orders-daily"}


@pytest.mark.parametrize(
    ("scope", "method", "path", "body"),
    [
        ("read:events", "GET", "/v1/topics/{}", None),
        ("read:events", "GET", "/v1/topics/{}/bounds", None),
        ("read:events", "GET", "/v1/topics/{}/partitions/0/records", None),
        ("manage:events", "PATCH", "/v1/topics/{}", {}),
        ("manage:events", "DELETE", "/v1/topics/{}", None),
        ("write:events", "POST", "/v1/topics/{}/records", [{"partitionKey": "a", "payload": "b"}]),
        ("read:events", "GET", "/v1/event-destinations/{}-copy", None),
        ("read:events", "POST", "/v1/event-destinations/{}-copy/pull", None),
        ("read:events", "GET", "/v1/event-destinations/{}-copy/lag", None),
        ("manage:events", "PATCH", "/v1/event-destinations/{}-copy", {}),
        ("manage:events", "POST", "/v1/event-destinations/{}-copy/pause", {}),
        ("manage:events", "DELETE", "/v1/event-destinations/{}-copy", None),
        ("read:queues", "GET", "/v1/event-queues/{}", None),
        ("read:queues", "POST", "/v1/event-queues/{}/claim", {}),
        ("write:queues", "POST", "/v1/event-queues/{}/events", {"payload": {}}),
        ("manage:queues", "PATCH", "/v1/event-queues/{}", {}),
        ("manage:queues", "POST", "/v1/event-queues/{}/purge", None),
        ("read:queues", "GET", "/v1/schedules/{}-daily", None),
        ("write:queues", "PATCH", "/v1/schedules/{}-daily", {}),
    ],
)
def test_a_name_outside_the_pattern_is_not_found_and_one_inside_is(api_with, things, scope, method, path, body):
    narrow = api_with(f"{scope} orders*")
    outside = narrow.send(method, path.format("billing"), body)
    assert (outside.status_code, outside.json()["error"]["code"]) == (404, "NOT_FOUND"), outside.content
    assert narrow.send(method, path.format("orders"), body).status_code < 500
    assert narrow.send(method, path.format("orders"), body).status_code != 403


def test_an_id_does_not_get_around_a_pattern(api, api_with, things):
    narrow = api_with("read:events orders*", "read:queues orders*")
    for route, name in (("topics", "billing"), ("event-destinations", "billing-copy"), ("event-queues", "billing")):
        body = api.get(f"/v1/{route}/{name}").json()
        assert narrow.get(f"/v1/{route}/{body.get('data', body)['id']}").status_code == 404


def test_a_destination_needs_its_name_and_its_topic(api_with, things):
    body = {**CONSUMER, "name": "orders-2"}
    path = "/v1/event-destinations"
    assert api_with("manage:events orders*").post(path, body).status_code == 403
    assert api_with("manage:events orders*", "read:events billing").post(path, body).status_code == 404
    assert api_with("manage:events billing*", "read:events orders").post(path, body).status_code == 404
    assert api_with("manage:events orders*", "read:events orders").post(path, body).status_code == 201


def test_a_schedule_needs_its_name_and_its_queue(api_with, things):
    body = {"name": "orders-2", "queue": "billing", "payload": {}, "everySeconds": 60}
    assert api_with("write:queues orders*").post("/v1/schedules", body).status_code == 404
    assert api_with("write:queues orders*", "write:queues billing").post("/v1/schedules", body).status_code == 201
