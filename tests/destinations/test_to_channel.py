"""CHANNEL destinations: every event once, in order, in the channel its template names."""

import json

import pytest

from apps.destinations.forward.transfer import HELD_SECONDS
from tests.destinations.test_to_queue import dead, forward
from tests.destinations.world import DESTINATIONS, lag, make, publish
from tests.factories import unique


def to_channel(api, template, **fields):
    return make(api, type="CHANNEL", channel={"channel": template}, **fields)


def post(api, topic, **event):
    body = {"specversion": "1.0", "id": unique("e"), "source": "/s", "type": "t", "partitionkey": "k", **event}
    answer = api.post(f"/v1/topics/{topic}/events", json.dumps(body), content_type="application/cloudevents+json")
    assert answer.status_code == 202, answer.content


def events_of(api, channel):
    answer = api.get(f"/v1/streams/{channel}/events")
    assert answer.status_code == 200, answer.content
    return answer.json()["events"]


def test_events_arrive_in_order_with_their_type_data_and_identity(api):
    name = unique("42")
    thing = to_channel(api, f"job:{name}")
    publish(api, thing["topic"], 5)
    forward(thing)
    found = events_of(api, f"job:{name}")
    topic = api.get(f"/v1/topics/{thing['topic']}").json()["id"]
    assert [event["data"] for event in found] == [0, 1, 2, 3, 4]
    assert [event["sequence"] for event in found] == [1, 2, 3, 4, 5]
    assert {event["type"] for event in found} == {"order.placed"}
    assert found[0]["id"] == f"{topic}/000.00000000000000000000"
    assert lag(api, thing["name"])["lagEvents"] == 0


def test_the_subject_chooses_the_channel_and_what_has_none_is_parked(api):
    thing = to_channel(api, "job:{subject}")
    one, other = unique("a"), unique("b")
    for subject in (one, other, one):
        post(api, thing["topic"], subject=subject, data={"for": subject})
    post(api, thing["topic"])
    post(api, thing["topic"], subject="not a name")
    forward(thing)
    assert [event["data"] for event in events_of(api, f"job:{one}")] == [{"for": one}] * 2
    assert len(events_of(api, f"job:{other}")) == 1
    assert [("has no subject" in letter["error"], "not a name" in letter["error"]) for letter in dead(api, thing)] == [
        (True, False),
        (False, True),
    ]
    assert lag(api, thing["name"])["lagEvents"] == 0


@pytest.mark.parametrize(
    ("sent", "arrives"),
    [({}, None), ({"data_base64": "AAEC"}, "AAEC"), ({"data": {"a": "\ud800"}}, {"a": "\ud800"}), ({"data": "x"}, "x")],
)
def test_data_arrive_as_they_were_sent(api, sent, arrives):
    name = unique("d")
    thing = to_channel(api, f"job:{name}")
    post(api, thing["topic"], **sent)
    forward(thing)
    assert [event["data"] for event in events_of(api, f"job:{name}")] == [arrives]


def test_an_unknown_kind_holds_it(api):
    thing = to_channel(api, "nokind:{partitionkey}")
    publish(api, thing["topic"], 1)
    assert forward(thing) == HELD_SECONDS
    assert lag(api, thing["name"])["cause"]["code"] == "target_missing"


@pytest.mark.parametrize("template", ["job", "job:", ":x", "{type}:x", "job:{other}", "job:a b", ""])
def test_a_bad_template_is_refused_when_it_is_made(api, template):
    refused = api.post(DESTINATIONS, {"name": "n", "type": "CHANNEL", "topic": "t", "channel": {"channel": template}})
    assert (refused.status_code, refused.json()["error"]["details"]["field"]) == (400, "channel.channel")


@pytest.mark.parametrize(
    ("scope", "template", "status"),
    [
        ("write:channels job:*", "job:{subject}", 201),
        ("write:channels job:4*", "job:{subject}", 404),
        ("write:channels job:4*", "job:42", 201),
        ("write:queues", "job:42", 403),
    ],
)
def test_its_fixed_prefix_must_be_allowed(api_with, scope, template, status):
    api = api_with("manage:events", "read:events", scope)
    body = {"name": unique("d"), "type": "CHANNEL", "topic": "t", "channel": {"channel": template}}
    assert api.post(DESTINATIONS, body).status_code == status


def test_an_event_of_the_transports_own_type_is_parked_and_the_others_go_on(api):
    name = unique("own")
    thing = to_channel(api, f"job:{name}")
    for kind in ("resync.required", "job.started", "beyond-cdn-pointer/1"):
        post(api, thing["topic"], type=kind)
    forward(thing)
    assert [event["type"] for event in events_of(api, f"job:{name}")] == ["job.started"]
    letters = dead(api, thing)
    assert len(letters) == 2 and all("transport" in letter["error"] for letter in letters)
    assert lag(api, thing["name"])["lagEvents"] == 0
