"""A topic, a durable consumer on it, and the calls of a worker, over HTTP as clients make them."""

import json
from urllib.parse import urlencode

from django.db import connection

from apps.topics.operations.create import create_topic
from tests.factories import Api, unique

DESTINATIONS = "/v1/event-destinations"


def sql(text, *values):
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return cursor.fetchall() if cursor.description else []


def make_topic(partitions: int = 1) -> str:
    return create_topic(None, unique("topic"), partitions).name


def make(api: Api, **fields):
    """A durable consumer on a topic of one partition, unless told otherwise."""
    body = {"name": unique("destination"), "type": "DURABLE_CONSUMER", "startAt": "oldest", **fields}
    body.setdefault("topic", None) or body.update(topic=make_topic())
    made = api.post(DESTINATIONS, body)
    assert made.status_code == 201, made.content
    return made.json()


def publish(api: Api, topic: str, count: int = 1, *, key: str = "k", first: int = 0, kind: str = "order.placed") -> None:
    events = [
        {"specversion": "1.0", "id": f"{key}-{number}", "source": "/test", "type": kind, "partitionkey": key, "data": number}
        for number in range(first, first + count)
    ]
    answer = api.post(f"/v1/topics/{topic}/events", json.dumps(events), content_type="application/cloudevents-batch+json")
    assert answer.status_code == 202, answer.content


def fill(topic: str, number: int) -> None:
    """The same events in each partition of an empty topic."""
    sql(
        'INSERT INTO event (topic_id, partition, kind, "offset", appended_at, total_bytes, partition_key, key, type, source,'
        " subject, body) SELECT t.topic_id, t.partition, 1, n, statement_timestamp(), (n + 1) * 100, 'k', 'e' || n,"
        " 'order.made', '/shop', 'order-' || n, '{\"data\":1}'"
        " FROM topic_partition AS t CROSS JOIN generate_series(0, %s) AS n"
        " WHERE t.topic_id = (SELECT id FROM topic WHERE name = %s)", number - 1, topic,
    )  # fmt: skip


def pull(api: Api, name: str, **parameters):
    return api.post(f"{DESTINATIONS}/{name}/pull?{urlencode(parameters)}")


def acknowledge(api: Api, name: str, batch, status: str = "ok", **fields):
    body = {"leaseId": batch["leaseId"], "generation": batch["generation"], "status": status, **fields}
    return api.post(f"{DESTINATIONS}/{name}/acknowledge", body)


def lag(api: Api, name: str):
    return api.get(f"{DESTINATIONS}/{name}/lag").json()


def cause(api: Api, name: str) -> str:
    return lag(api, name)["cause"]["code"]


def age_leases(seconds: int) -> None:
    """As if all leases had been handed out that much earlier, with the same visibility."""
    columns = ("leased_at", "handed_at", "visible_at")
    earlier = ", ".join(f"{column} = {column} - interval '{seconds} seconds'" for column in columns)
    sql(f"UPDATE lease SET {earlier}")
