"""The log in the admin across hot and cold: what is where, how sweeps went, and every event at its offset."""

import pytest

from apps.cursors.models import Group
from apps.topics.operations import reconcile
from tests.console import world
from tests.factories import Api, api_key
from tests.topics.cold import objects, publish, sweep, topic_of, use_store

pytestmark = pytest.mark.django_db
MARKUP = "<script>alert(1)</script>"


@pytest.fixture
def client_of_api(db):
    return Api(api_key())


@pytest.fixture
def topic(client_of_api, tmp_path, settings):
    settings.TOWPATH = dict(settings.TOWPATH)
    use_store(tmp_path / "cold")
    topic = topic_of(client_of_api, hot_records=10)
    publish(client_of_api, topic, 120)
    assert sweep(topic) == 110
    return topic


@pytest.fixture
def admin(login):
    return login("Admin")


def show(admin, topic, **query):
    return admin.get(f"/admin/topics/topic/{topic.pk}/change/", query).content.decode()


def shown(topic, offset):
    return f"/admin/topics/topic/{topic.pk}/events/0/{offset}/"


def test_events_are_browsed_by_offset_on_both_sides_of_the_seam(admin, topic):
    page = show(admin, topic, partition=0, start=100)
    assert shown(topic, 100) in page and shown(topic, 109) in page and shown(topic, 110) not in page
    assert "start=110" in page and shown(topic, 119) in show(admin, topic, partition=0, start=110)


def test_events_are_found_by_type_and_by_key(admin, topic):
    page = show(admin, topic, partition=0, start=0, type="t.1")
    assert shown(topic, 1) in page and shown(topic, 2) not in page
    assert shown(topic, 5) in show(admin, topic, key="k", start=5)
    assert "No such event" in show(admin, topic, key="other", start=0)


def test_events_are_found_by_time(admin, topic):
    assert shown(topic, 0) in show(admin, topic, partition=0, since="2020-01-01 00:00")
    assert shown(topic, 0) not in show(admin, topic, partition=0, since="2999-01-01 00:00")


def test_a_cold_event_is_shown_whole(admin, topic):
    html = admin.get(shown(topic, 3)).content.decode()
    assert "k3" in html and "&quot;n&quot;" in html
    assert admin.get(shown(topic, 500)).status_code == 404


def test_segments_sweeps_problems_and_groups_are_shown(admin, topic, tmp_path, client_of_api):
    html = show(admin, topic)
    assert "Cold storage" in html and "Last sweep" in html and ">110<" in html
    objects(tmp_path / "cold" / "segments")[0].unlink()
    reconcile.reconcile_topic(topic)
    assert "object missing" in show(admin, topic)
    client_of_api.post(f"/v1/topics/{topic.name}/groups/readers/assignments", {"memberId": "m-7", "ttlSeconds": 60})
    groups = admin.get("/admin/cursors/group/").content.decode()
    assert "readers" in groups and "m-7" in groups and "120" in groups


def test_markup_in_every_field_of_the_log_stays_text(admin, topic, client_of_api, at_most):
    publish(client_of_api, topic, 20, key=MARKUP, start=120, source="/s", subject=MARKUP, type=MARKUP)
    sweep(topic)
    group = world.group(topic, "readers")
    world.assign(group, 0, MARKUP)
    number = Group.objects.get(consumer_id=group.consumer_id).pk
    queries = [f"?partition=0&start=120&type={MARKUP}", f"?key={MARKUP}", f"?partition=0&since={MARKUP}", "?start=120"]
    pages = ["/admin/topics/topic/", *(f"/admin/topics/topic/{topic.pk}/change/{query}" for query in queries)]
    groups = ["/admin/cursors/group/", f"/admin/cursors/group/{number}/change/"]
    for path in (*pages, shown(topic, 125), shown(topic, 135), *groups):
        with at_most(20):
            answer = admin.get(path)
        assert answer.status_code == 200 and MARKUP not in answer.content.decode(), path
    assert "&lt;script&gt;" in show(admin, topic, start=120)


def test_groups_of_many_topics_are_listed_in_few_queries(admin, at_most):
    for number in range(25):
        world.group(world.topic(), f"readers-{number}")
    with at_most(20):
        assert admin.get("/admin/cursors/group/").content.decode().count("readers-") >= 25
