"""A primary that has become a standby takes no writes: that is no fault of anybody's code, and it passes."""

import pytest
from django.db import connection

from tests.factories import unique

pytestmark = pytest.mark.django_db(transaction=True)


def demote() -> None:
    """What this process is connected to may not write any more; a new connection may."""
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/topics", {"name": "NAME"}),
        ("/v1/event-queues", {"name": "NAME"}),
        ("/v1/event-queues/QUEUE/events", {"payload": {}}),
        ("/v1/event-queues/QUEUE/claim", {}),
        ("/v1/topics/TOPIC/partitions/0/commit", {"group": "g", "offset": 0}),
        ("/v1/topics/TOPIC/groups/g/assignments", {"memberId": "m", "ttlSeconds": 60}),
        ("/v1/event-destinations/DESTINATION/pull", None),
        ("/v1/grants", {"channels": ["job:1"], "subject": "s", "ttlSeconds": 60}),
    ],
)
def test_a_write_is_unavailable_and_works_again_over_a_new_connection(api, path, body):
    queue, topic, destination = unique("queue"), unique("topic"), unique("destination")
    api.post("/v1/event-queues", {"name": queue})
    api.post("/v1/topics", {"name": topic})
    api.post("/v1/event-destinations", {"name": destination, "type": "DURABLE_CONSUMER", "topic": topic})
    path = path.replace("QUEUE", queue).replace("TOPIC", topic).replace("DESTINATION", destination)
    body = body and {field: unique("new") if value == "NAME" else value for field, value in body.items()}
    demote()
    refused = api.post(path, body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "UNAVAILABLE")
    assert refused["Retry-After"]
    assert api.post(path, body).status_code < 300


def test_an_append_goes_over_a_new_connection_at_once(api):
    topic, records = unique("topic"), [{"partitionKey": "a", "payload": "x"}]
    api.post("/v1/topics", {"name": topic})
    demote()
    assert api.post(f"/v1/topics/{topic}/records", records).status_code == 202


def test_reading_goes_on_though_no_last_use_of_a_key_can_be_noted(api):
    demote()
    assert api.get("/v1/topics").status_code == 200
    connection.close()
