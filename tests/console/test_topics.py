"""Topics and their events in the admin."""

import json

import pytest

from apps.topics.selectors.browsing import scan, topics_now
from core.json_text import indented
from tests.console import world

pytestmark = pytest.mark.django_db
MARKUP = "<script>alert(1)</script>&\"'"


def url(topic, partition=None, offset=None, raw=False) -> str:
    if partition is None:
        return f"/admin/topics/topic/{topic.pk}/change/"
    return f"/admin/topics/topic/{topic.pk}/events/{partition}/{offset}/{'raw/' if raw else ''}"


def test_the_list_shows_what_is_hot_and_when_the_last_came(login):
    world.events(world.topic(name="orders"), 1500, age=7200)
    world.topic(name="empty")
    html = login("Viewer").get("/admin/topics/topic/").content.decode()
    assert "1,500" in html and "146.5 KiB" in html and "2 h ago" in html and "never" in html


def test_a_hundred_topics_are_listed_in_few_queries_without_a_count(login, at_most):
    for _ in range(100):
        world.topic()
    client = login("Viewer")
    with at_most(10):
        assert client.get("/admin/topics/topic/").content.decode().count("orders-") >= 50


def test_a_topic_says_where_each_partition_begins_and_ends(login, at_most):
    topic = world.topic(partitions=3)
    world.events(topic, 1234, partition=2)
    world.execute("UPDATE topic_partition SET hot_offset = 200, oldest_offset = 100 WHERE partition = 2")
    client = login("Viewer")
    with at_most(12):
        html = client.get(url(topic)).content.decode()
    assert "1,234" in html and "1,034" in html and ">200<" in html and ">100<" in html


def test_the_rate_fades_when_nothing_comes():
    topic = world.topic()
    for offset in range(10):
        world.event(topic, offset, age=2_000)
    assert 0.004 < topics_now([topic.pk])[topic.pk].rate <= 0.005


def test_the_latest_events_of_all_partitions_come_first(login):
    topic = world.topic()
    world.event(topic, 0, partition=0, age=30, subject="old")
    world.event(topic, 0, partition=1, age=10, subject="new")
    html = login("Viewer").get(url(topic)).content.decode()
    assert html.index(">new<") < html.index(">old<")


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("partition=0&start=100", 100, 149),
        ("start=000.00000000000000000040", 40, 89),
        ("partition=0", 70, 119),
        ("start=0&type=", 0, 49),
    ],
)
def test_events_are_browsed_by_offset(login, asked, first, last):
    topic = world.topic()
    world.events(topic, 120)
    html = login("Viewer").get(f"{url(topic)}?{asked}").content.decode()
    shown = [n for n in range(120) if f">000.{n:020d}<" in html]
    assert (shown[0], shown[-1]) == (first, min(last, 119))


def test_pages_follow_each_other_by_type_without_losing_any():
    topic = world.topic()
    for offset in range(300):
        world.event(topic, offset, type="order.paid" if offset % 3 == 0 else "order%paid")
    part, found, start = topics_now([topic.pk])[topic.pk].partitions[0], [], 0
    while start is not None:
        page = scan(part, start, 50, "order.*")
        found, start = found + [event.offset for event in page.events], page.next
    assert found == list(range(0, 300, 3))


@pytest.mark.parametrize(
    "asked", ["start=abc", "start=-1", "start=9" * 60, "start=999.x", "partition=99", "partition=x", "start=%00", "type=%00"]
)
def test_nonsense_in_the_form_is_said_not_a_500(login, asked):
    topic = world.topic()
    world.events(topic, 3)
    assert login("Viewer").get(f"{url(topic)}?{asked}").status_code == (400 if "%00" in asked else 200)


def test_payloads_need_a_permission_of_their_own(login):
    topic = world.topic()
    world.event(topic, 0, '{"data":"secret stuff"}')
    client = login("Operator")
    html = client.get(url(topic, 0, 0)).content.decode()
    assert "order-0" in html and "Your role may not see payloads" in html and "secret stuff" not in html
    assert client.get(url(topic, 0, 0, raw=True)).status_code == 403
    assert "secret stuff" not in client.get(url(topic)).content.decode()


PAYLOADS = {
    "long": json.dumps({"data": "é" * 500_000}, ensure_ascii=False),
    "wide": json.dumps({"data": {f"k{n}": n for n in range(50_000)}}),
    "deep": '{"data":' + "[" * 200 + "]" * 200 + "}",
    "string": '"just a string"',
    "null": "null",
    "empty": "[]",
    "strange numbers": '{"data":[1e400,-0.0,12345678901234567890123,1.10,{"a":1,"a":2}]}',
    "escapes": '{"data":"\\u0000 \\ud800 \\u202e"}',
    "right to left": '{"data":"\u202egnp.exe \u0001 \u2028"}',
    "markup": json.dumps({"data": MARKUP}),
    "no JSON": MARKUP,
}


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize("kind", [0, 1])
def test_odd_payloads_are_shown_and_the_raw_one_is_what_is_stored(login, name, kind):
    topic = world.topic()
    world.event(topic, 0, PAYLOADS[name], kind=kind)
    client = login("Admin")
    answer = client.get(url(topic, 0, 0))
    assert answer.status_code == 200
    assert len(answer.content) < 300_000
    assert b"<script>alert" not in answer.content
    raw = client.get(url(topic, 0, 0, raw=True))
    assert raw.content.decode() == PAYLOADS[name]
    assert raw.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert raw.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("name", ["deep", "strange numbers", "escapes", "wide"])
def test_setting_json_out_in_lines_changes_nothing_in_it(name):
    text = PAYLOADS[name]
    assert "".join(indented(text).split()) == "".join(text.split())


def test_every_field_of_an_event_is_escaped(login):
    topic = world.topic()
    world.event(topic, 0, partition_key=MARKUP, key=MARKUP, type=MARKUP, source=MARKUP, subject=MARKUP)
    client = login("Admin")
    for path in (
        url(topic),
        url(topic, 0, 0),
        f"{url(topic)}?type={MARKUP}&start={MARKUP}",
        f"/admin/topics/topic/?q={MARKUP}",
    ):
        html = client.get(path).content.decode()
        assert "<script>alert" not in html


@pytest.mark.parametrize(("partition", "offset"), [(0, 99), (9, 0), (10**30, 0), (0, 10**30)])
def test_an_event_that_is_not_there_is_a_404(login, partition, offset):
    topic = world.topic()
    assert login("Admin").get(url(topic, partition, offset)).status_code == 404


def test_a_topic_is_not_changed_here(login):
    topic = world.topic()
    client = login("Admin")
    client.post(url(topic), {"name": "other"})
    topic.refresh_from_db()
    assert topic.name != "other"
    assert client.post(f"/admin/topics/topic/{topic.pk}/delete/", {"post": "yes"}).status_code == 403
    assert client.get("/admin/topics/topic/add/").status_code == 403
