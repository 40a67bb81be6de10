"""Each cause is brought about as it comes about, and its line and numbers are the same wherever somebody looks."""

import asyncio
import html
import re
from ipaddress import ip_network

import pytest
from prometheus_client.parser import text_string_to_metric_families

from apps.console import metrics
from apps.console.selectors.attention import URGENCY
from apps.destinations.forward.line import lines
from apps.destinations.forward.settle import Sent, settle
from apps.destinations.forward.transfer import transfer
from apps.destinations.forward.work import next_work
from apps.destinations.models import Destination
from apps.destinations.operations.sample import sample_lag
from apps.destinations.operations.sight import flush_sightings
from apps.destinations.selectors import find
from apps.destinations.webhooks.client import Client
from apps.queues.operations import queues
from apps.queues.operations.sampling import sample
from core import words
from tests.destinations.endpoint import Endpoint
from tests.destinations.world import DESTINATIONS, acknowledge, age_leases, fill, lag, make, make_topic, publish, pull, sql
from tests.factories import unique

pytestmark = pytest.mark.django_db
LIST = "/admin/destinations/destination/"
HOURS = 2 * 3600 + 5 * 60 + 10
"""How old events are: in words the same for most of a minute."""


@pytest.fixture(autouse=True)
def nothing_remembered():
    find.forget_found()
    flush_sightings()


def behind(api, count: int = 10, age: float = HOURS, **fields) -> str:
    """A destination with events of some age; its name."""
    made = make(api, **fields)
    publish(api, made["topic"], count)
    sql("UPDATE event SET appended_at = appended_at - make_interval(secs => %s)", age)
    return str(made["name"])


def caught_up(api) -> str:
    name = behind(api)
    acknowledge(api, name, pull(api, name).json())
    return name


def delivering(api) -> str:
    name = behind(api)
    pull(api, name, limit=1)
    return name


def paused(api) -> str:
    name = behind(api)
    pull(api, name, limit=2)
    api.post(f"{DESTINATIONS}/{name}/pause", {"reason": "deploy", "resumeAt": "2099-01-01T14:00:00Z"})
    return name


def window_full(api) -> str:
    name = behind(api, window=3)
    pull(api, name)
    return name


def too_many_unsettled(api) -> str:
    name = behind(api, window=3, maxUnsettled=5)
    acknowledge(api, name, pull(api, name).json(), "failed", retryDelaySeconds=600)
    pull(api, name)
    return name


def held_by_lease(api) -> str:
    name = behind(api)
    for _ in range(4):
        acknowledge(api, name, pull(api, name, limit=2, workerId="worker-7").json(), "failed")
    pull(api, name, limit=2, workerId="worker-7", visibility=600)
    age_leases(61)
    return name


def no_pull_yet(api) -> str:
    return behind(api)


def no_pull(api) -> str:
    name = behind(api)
    acknowledge(api, name, pull(api, name, limit=1).json())
    flush_sightings()
    sql("UPDATE worker_seen SET seen_at = seen_at - interval '12 minutes 1 second'")
    sql("UPDATE cursor SET served_at = served_at - interval '12 minutes 1 second'")
    return name


def stalled_in_order(api) -> str:
    name = behind(api, topic=make_topic(partitions=8), ordering="partition")
    acknowledge(api, name, pull(api, name, limit=1).json(), "failed")
    pull(api, name, limit=1, visibility=600)
    age_leases(61)
    return name


def passed_over(api) -> str:
    topic = make_topic(partitions=8)
    fill(topic, 3)
    sql("UPDATE event SET appended_at = appended_at - make_interval(secs => %s)", HOURS)
    name = make(api, topic=topic)["name"]
    for _ in range(8):
        acknowledge(api, name, pull(api, name, limit=1).json())
    flush_sightings()
    sql("UPDATE worker_seen SET seen_since = seen_since - interval '10 minutes'")
    sql("UPDATE cursor SET served_at = served_at - interval '9 minutes' WHERE partition = 7")
    return name


def retention_near(api) -> str:
    topic = unique("topic")
    made = api.post(
        "/v1/topics", {"name": topic, "partitions": 1, "retention": {"cold": {"seconds": 7500}, "onLag": "expire"}}
    )
    assert made.status_code == 201, made.content
    name = behind(api, topic=topic, age=7500 - 600)
    pull(api, name, limit=1)
    return name


def to_queue(api, queue: str) -> str:
    name = behind(api, type="QUEUE", queue={"queue": queue})
    transfer(next(line for line in lines() if line.name == name))
    return name


def target_missing(api) -> str:
    return to_queue(api, "mails")


def target_paused(api) -> str:
    queues.pause(None, queues.create(None, "mails").id, "maintenance")
    return to_queue(api, "mails")


def target_full(api) -> str:
    made = queues.create(None, "mails")
    assert api.post("/v1/event-queues/mails/events", {"payload": {}}).status_code == 201
    sample(made.id)
    return to_queue(api, "mails")


def pushed(api, answer: str) -> str:
    """A webhook whose endpoint has answered so to each of ten events."""
    with Endpoint() as endpoint:
        name = behind(api, type="WEBHOOK", webhook={"url": endpoint.url(answer)})
        line = next(line for line in lines() if line.name == name)
        work = next_work(line, "forwarder")
        settle(line, work, asyncio.run(_sent(work, endpoint.url(answer))))
    return name


async def _sent(work, url: str) -> list[Sent]:
    client = Client()
    try:
        return [Sent(each, at, await client.post(url, each.body.encode(), {}, 30)) for each, at in work.messages]
    finally:
        await client.close()


def breaker_open(api) -> str:
    return pushed(api, "500")


def disabled(api) -> str:
    return pushed(api, "410")


SEQUENCE = "000.00000000000000000000"
SAID = {
    caught_up: "caught up",
    delivering: "delivering, 10 events behind",
    paused: r"paused by API key key-\d+ until 2099-01-01 14:00 UTC: deploy",
    window_full: "window full: 3 of 3 leased",
    too_many_unsettled: r"too many unsettled: 2 leased, 3 waiting \(limit 5\)",
    held_by_lease: rf"cursor held at {SEQUENCE} by lease [0-9a-f-]{{36}} of worker-7, attempt 5",
    no_pull_yet: "no pull yet",
    no_pull: r"no pull for 12 min( \d+ s)?",
    stalled_in_order: "1 of 8 partitions stalled",
    passed_over: "1 of 8 partitions stalled",
    retention_near: r"retention reaches unread events of partition 0 in (10|9) min( \d+ s)?",
    target_missing: "there is no queue mails",
    target_paused: "the queue mails is paused",
    target_full: "the queue mails holds more than 1 events",
    breaker_open: "breaker open after 10 failures in a row, the last: answered 500",
    disabled: "disabled: the endpoint answered 410 Gone",
}


def code_of(bring) -> str:
    return {"no_pull_yet": "no_pull", "stalled_in_order": "partition_stalled", "passed_over": "partition_stalled"}.get(
        bring.__name__, bring.__name__
    )


@pytest.fixture(autouse=True)
def small_world(settings):
    """One event fills a queue, and webhooks may go to this machine."""
    settings.TOWPATH = {**settings.TOWPATH, "FULL_QUEUE_EVENTS": 1}
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]


@pytest.fixture(params=SAID, ids=lambda bring: bring.__name__)
def brought(request, api) -> tuple[str, str, str]:
    """The name of a destination, its cause, and what is said of it."""
    return request.param(api), code_of(request.param), SAID[request.param]


def text_of(answer) -> str:
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def exposed(api, name: str) -> dict[str, float]:
    """Its metrics by their names; its state and cause have the value 1."""
    sample_lag()
    metrics._looked_at = 0.0
    found = {}
    for family in text_string_to_metric_families(text_of(api.get("/metrics"))):
        for each in family.samples:
            if each.labels.get("name") == name and each.labels.get("kind") == "destination":
                more = [each.labels[key] for key in ("state", "cause") if key in each.labels]
                found["/".join([each.name, *more])] = each.value
    return found


def test_every_cause_is_one_line_wherever_somebody_looks(login, api, brought):
    name, code, said = brought
    told = lag(api, name)
    assert told["cause"]["code"] == code
    assert re.fullmatch(said, told["cause"]["text"])
    shown = api.get(f"{DESTINATIONS}/{name}").json()
    assert shown["state"] == told["state"] and shown["cause"]["code"] == code
    assert re.fullmatch(said, shown["cause"]["text"])
    client, number = login("Viewer"), Destination.objects.get(name=name).pk
    page = text_of(client.get(f"{LIST}{number}/change/"))
    (line,) = re.findall(r'id="cause">(.*?)</p>', page)
    assert re.fullmatch(rf'<span class="tp-state[^>]*>{told["state"]}</span> {said}', line)
    assert re.search(rf"{told['state']}</span><div class=\"tp-why\">{said}<", text_of(client.get(LIST)))
    assert exposed(api, name)[f"towpath_destination_cause/{told['state']}/{code}"] == 1.0


def test_every_number_is_the_same_wherever_somebody_looks(login, api, brought):
    name = brought[0]
    told, seen = lag(api, name), exposed(api, name)
    client, number = login("Viewer"), Destination.objects.get(name=name).pk
    page, listed = text_of(client.get(f"{LIST}{number}/change/")), text_of(client.get(LIST))
    tiles = dict(re.findall(r'<div class="tp-tile"><dt>(.*?)</dt><dd>(.*?)</dd>', page))
    assert seen["towpath_lag_events"] == told["lagEvents"] and tiles["Lag, events"] == str(told["lagEvents"])
    assert f">{words.counted(told['lagEvents'], 'event')}<" in listed
    assert 0 <= seen["towpath_lag_seconds"] - told["lagSeconds"] < 50
    age = words.age(told["lagSeconds"]) if told["lagEvents"] else "0 s"
    assert tiles["Lag, time"] in (age, words.age(seen["towpath_lag_seconds"]), words.age(told["lagSeconds"] + 50))
    assert ("caught up<" if told["lagSeconds"] == 0 else " behind<") in listed
    assert seen["towpath_in_flight"] == told["inFlight"] and f">{told['inFlight']} / " in listed
    assert tiles["In flight / window"].startswith(f"{told['inFlight']} / ")
    assert seen["towpath_waiting"] == told["waiting"] and f">{told['waiting']} waiting<" in listed
    assert tiles["Waiting / unsettled limit"].startswith(f"{told['waiting']} / ")
    assert seen["towpath_dead_letters"] == told["deadLetters"] == int(tiles["Dead letters"]) == 0


def test_dead_letters_are_counted_alike_and_no_further_than_a_bound(login, api, monkeypatch):
    name = behind(api, maxDeliveries=1)
    acknowledge(api, name, pull(api, name, limit=3).json(), "failed", error="no")
    client, page = login("Viewer"), f"{LIST}{Destination.objects.get(name=name).pk}/change/"
    assert lag(api, name)["deadLetters"] == exposed(api, name)["towpath_dead_letters"] == 3
    assert "<dt>Dead letters</dt><dd>3</dd>" in text_of(client.get(page)) and ">3 dead<" in text_of(client.get(LIST))
    monkeypatch.setattr("apps.destinations.selectors.outcomes.COUNTED", 2)
    assert lag(api, name)["deadLetters"] == 2
    assert "<dt>Dead letters</dt><dd>2+</dd>" in text_of(client.get(page)) and ">2+ dead<" in text_of(client.get(LIST))


def test_when_retention_reaches_the_cursor_stands_with_each_partition(login, api):
    kept, name = behind(api), retention_near(api)  # each makes all events there are older
    client = login("Viewer")
    cells = re.compile(r'<td class="tp-nowrap">(never|nothing unread|unknown|\d+ min[^<]*)</td>')
    for each, said in ((name, r"(10|9) min( \d+ s)?"), (kept, "never")):
        page = text_of(client.get(f"{LIST}{Destination.objects.get(name=each).pk}/change/"))
        (shown,) = cells.findall(page)
        assert re.fullmatch(said, shown)
    acknowledge(api, name, pull(api, name).json())
    acknowledge(api, name, pull(api, name).json())
    page = text_of(client.get(f"{LIST}{Destination.objects.get(name=name).pk}/change/"))
    assert cells.findall(page) == ["nothing unread"]


def test_an_acknowledgement_is_seen_before_any_sample_was_taken(login, api):
    name = behind(api)
    client, page = login("Viewer"), f"{LIST}{Destination.objects.get(name=name).pk}/change/"
    batch = pull(api, name).json()
    assert "none seen lately" in text_of(client.get(page)) and "ack none seen lately" in text_of(client.get(LIST))
    acknowledge(api, name, batch)
    for path in (page, LIST):
        assert re.search(r"(<dt>Last acknowledgement</dt><dd>|ack )<time [^>]*>\d+ s ago", text_of(client.get(path)))


def test_each_cause_that_the_console_knows_is_among_these():
    assert {code_of(bring) for bring in SAID} == {*URGENCY, "caught_up", "delivering"}
