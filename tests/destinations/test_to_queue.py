"""QUEUE destinations: every event once, in order; what the queue cannot take holds them and says so."""

import json

import pytest
from django.db import connection

from apps.access.models import Audit
from apps.destinations.forward.line import lines
from apps.destinations.forward.transfer import HELD_SECONDS, transfer
from apps.queues.operations import queues
from apps.queues.selectors import find_queue
from tests.destinations.world import DESTINATIONS, cause, lag, make, publish, sql
from tests.factories import unique


@pytest.fixture
def queue(db):
    return queues.create(None, unique("queue"))


def to_queue(api, target, **fields):
    return make(api, type="QUEUE", queue=target if isinstance(target, dict) else {"queue": target}, **fields)


def line_of(thing):
    return next(line for line in lines() if line.name == thing["name"])


def forward(thing):
    """Until there is nothing more to do; the seconds after which it would look again."""
    line = line_of(thing)
    while (pause := transfer(line)) == 0:
        pass
    return pause


def events_in(queue):
    rows = sql("SELECT payload, idempotency_key, group_key FROM queue_event WHERE queue_id = %s ORDER BY n", queue.id)
    return [(json.loads(payload), key, group) for payload, key, group in rows]


def dead(api, thing):
    return api.get(f"{DESTINATIONS}/{thing['name']}/dead-letters").json()["items"]


def test_each_event_becomes_a_queue_event_in_order_with_its_identity_as_key(api, queue):
    thing = to_queue(api, queue.name)
    assert thing["queue"] == {"queue": queue.name, "groupKey": None}
    publish(api, thing["topic"], 5)
    forward(thing)
    found = events_in(queue)
    assert [payload["data"] for payload, _, _ in found] == [0, 1, 2, 3, 4]
    topic = api.get(f"/v1/topics/{thing['topic']}").json()["id"]
    assert [key for _, key, _ in found] == [f"{topic}/{payload['sequence']}" for payload, _, _ in found]
    assert lag(api, thing["name"])["lagEvents"] == 0
    forward(thing)
    assert len(events_in(queue)) == 5


def test_a_batch_that_comes_again_after_a_seek_is_not_doubled(api, queue):
    thing = to_queue(api, queue.name)
    publish(api, thing["topic"], 3)
    forward(thing)
    sql("UPDATE cursor SET position = 0 WHERE topic_id = %s", line_of(thing).topic_id)
    forward(thing)
    assert len(events_in(queue)) == 3


def test_a_filter_and_a_window_hold_for_it_too(api, queue):
    thing = to_queue(api, queue.name, filter={"types": ["a"]}, window=2)
    publish(api, thing["topic"], 5, kind="a")
    publish(api, thing["topic"], 5, first=5, kind="b")
    forward(thing)
    assert [payload["type"] for payload, _, _ in events_in(queue)] == ["a"] * 5


def test_group_keys_come_from_the_event(api, queue):
    thing = to_queue(api, {"queue": queue.name, "groupKey": "k:{partitionkey}"})
    publish(api, thing["topic"], 2, key="x")
    forward(thing)
    assert [group for _, _, group in events_in(queue)] == ["k:x", "k:x"]


def test_an_event_without_what_the_target_needs_is_parked_and_the_others_go_on(api, queue):
    thing = to_queue(api, {"queue": queue.name, "groupKey": "{subject}"})
    publish(api, thing["topic"], 2)
    api.post(f"/v1/topics/{thing['topic']}/events", {"specversion": "1.0", "id": "s", "source": "/s", "type": "t", "subject": "s1", "partitionkey": "k"}, content_type="application/cloudevents+json")  # fmt: skip  # noqa: E501
    forward(thing)
    assert [(payload["id"], group) for payload, _, group in events_in(queue)] == [("s", "s1")]
    letters = dead(api, thing)
    assert [letter["event"]["id"] for letter in letters] == ["k-0", "k-1"]
    assert "has no subject" in letters[0]["error"]
    assert lag(api, thing["name"])["lagEvents"] == 0


def test_a_name_that_no_queue_can_have_parks_that_event(api, queue):
    thing = to_queue(api, "q-{partitionkey}")
    publish(api, thing["topic"], 1, key="bad name")
    forward(thing)
    assert "would be 'q-bad name'" in dead(api, thing)[0]["error"]


def test_a_missing_queue_holds_it_and_says_so_until_it_is_there(api, queue):
    thing = to_queue(api, "not-made-yet")
    publish(api, thing["topic"], 1)
    assert forward(thing) == HELD_SECONDS
    told = lag(api, thing["name"])
    assert (told["state"], told["cause"]["code"]) == ("held", "target_missing")
    assert "not-made-yet" in told["cause"]["text"] and told["cause"]["since"]
    made = queues.create(None, "not-made-yet")
    forward(thing)
    assert cause(api, thing["name"]) == "caught_up" and len(events_in(made)) == 1


def test_a_paused_queue_holds_it_and_a_held_event_counts_no_delivery(api, queue):
    thing = to_queue(api, queue.name, maxDeliveries=1)
    publish(api, thing["topic"], 1)
    queues.pause(None, queue.id, "maintenance")
    for _ in range(3):
        assert forward(thing) == HELD_SECONDS
    assert cause(api, thing["name"]) == "target_paused"
    queues.resume(None, queue.id)
    forward(thing)
    assert len(events_in(queue)) == 1 and dead(api, thing) == []


def test_a_full_queue_holds_it(api, queue, settings):
    settings.TOWPATH = {**settings.TOWPATH, "FULL_QUEUE_EVENTS": 1}
    sql(
        "INSERT INTO queue_sample (queue_id, at, ready, scheduled, in_flight, blocked, dead, exact, settled)"
        " VALUES (%s, statement_timestamp(), 1, 0, 0, 0, 0, true, 0)",
        queue.id,
    )
    thing = to_queue(api, queue.name)
    publish(api, thing["topic"], 1)
    assert forward(thing) == HELD_SECONDS
    assert cause(api, thing["name"]) == "target_full"


def test_a_paused_destination_forwards_nothing(api, queue):
    thing = to_queue(api, queue.name)
    publish(api, thing["topic"], 1)
    api.post(f"{DESTINATIONS}/{thing['name']}/pause")
    assert forward(thing) > 0
    assert events_in(queue) == []
    api.post(f"{DESTINATIONS}/{thing['name']}/resume")
    forward(thing)
    assert len(events_in(queue)) == 1


def test_an_event_the_database_refuses_is_counted_and_parked_while_the_others_arrive(api, queue):
    thing = to_queue(api, queue.name, maxDeliveries=2)
    publish(api, thing["topic"], 4)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE queue_event ADD CONSTRAINT poison CHECK (payload NOT LIKE '%%\"k-2\"%%') NOT VALID")
    forward(thing)
    sql("UPDATE lease SET visible_at = statement_timestamp()")
    forward(thing)
    assert [payload["id"] for payload, _, _ in events_in(queue)] == ["k-0", "k-1", "k-3"]
    [letter] = dead(api, thing)
    assert letter["event"]["id"] == "k-2" and "poison" in letter["error"] and letter["deliveries"] == 2
    assert lag(api, thing["name"])["lagEvents"] == 0


def test_a_redriven_event_arrives_though_its_key_was_never_used(api, queue):
    thing = to_queue(api, {"queue": queue.name, "groupKey": "{subject}"})
    publish(api, thing["topic"], 1)
    forward(thing)
    [letter] = dead(api, thing)
    sql("UPDATE destination SET settings = jsonb_set(settings, '{queue,groupKey}', 'null') WHERE name = %s", thing["name"])
    api.post(f"{DESTINATIONS}/{thing['name']}/dead-letters/{letter['id']}/redrive")
    forward(thing)
    assert [payload["id"] for payload, _, _ in events_in(queue)] == ["k-0"]


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ({"queue": "a b"}, "queue.queue"),
        ({"queue": "q-{nothing}"}, "queue.queue"),
        ({"queue": "q-{subject"}, "queue.queue"),
        ({"queue": ""}, "queue.queue"),
        ({"queue": "q", "groupKey": ""}, "queue.groupKey"),
        ({"queue": "q", "groupKey": "{other}"}, "queue.groupKey"),
        ({"queue": "q", "groupKey": "x" * 201}, "queue.groupKey"),
        ({"queue": "q", "group": "x"}, "queue.group"),
        (None, "queue"),
    ],
)
def test_a_bad_target_is_refused_when_it_is_made(api, target, field):
    body = {"name": "n", "type": "QUEUE", "topic": "t", **({} if target is None else {"queue": target})}
    refused = api.post(DESTINATIONS, body)
    assert refused.status_code == 400, refused.content
    assert refused.json()["error"]["details"]["field"] == field


@pytest.mark.parametrize(
    ("scope", "queue", "status"),
    [
        ("write:queues", "any", 201),
        ("write:queues mail-*", "mail-out", 201),
        ("write:queues mail-*", "other", 404),
        ("write:queues mail-*", "mail-{subject}", 201),
        ("write:queues mail-a*", "mail-{subject}", 404),
        ("read:queues", "any", 403),
    ],
)
def test_it_needs_to_be_allowed_to_write_to_whatever_it_may_write_to(api_with, scope, queue, status):
    api = api_with("manage:events", "read:events", scope)
    made = api.post(DESTINATIONS, {"name": unique("d"), "type": "QUEUE", "topic": "t", "queue": {"queue": queue}})
    assert made.status_code == status, made.content


def test_its_target_stands_in_the_audit_trail_and_cannot_be_changed_or_pulled(api, queue):
    thing = to_queue(api, queue.name)
    assert Audit.objects.get(object_name=thing["name"]).after["queue"]["queue"] == queue.name
    assert api.patch(f"{DESTINATIONS}/{thing['name']}", {"queue": {"queue": "x"}}).status_code == 400
    refused = api.post(f"{DESTINATIONS}/{thing['name']}/pull")
    assert refused.json()["error"]["code"] == "NOT_A_DURABLE_CONSUMER"
    assert find_queue(queue.name).id == queue.id
