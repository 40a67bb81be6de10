"""A test event by hand."""

import json

import pytest

from apps.access.models import Audit
from tests.console import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def topic(db):
    made = world.topic(name="orders")
    world.destination(made, "billing")
    return made


def url(topic) -> str:
    return f"/admin/topics/topic/{topic.pk}/publish/"


def sent(**more):
    return {"confirmed": "1", "reason": "does it arrive?", "type": "towpath.test", "payload": '{"n": 1.10}', **more}


def bodies(topic) -> list[str]:
    with world.connection.cursor() as cursor:
        cursor.execute("SELECT body FROM event WHERE topic_id = %s", [topic.pk])
        return [body for (body,) in cursor.fetchall()]


def test_a_test_event_is_published_as_it_was_written_and_on_record(login, topic):
    client = login("Admin")
    assert url(topic) in client.get(f"/admin/topics/topic/{topic.pk}/change/").content.decode()
    assert "billing" in client.get(url(topic)).content.decode()
    assert client.post(url(topic), sent(subject="s-1")).status_code == 302
    (body,) = bodies(topic)
    assert '"n": 1.10' in body and json.loads(body)["subject"] == "s-1"
    entry = Audit.objects.get(verb="publish-test")
    assert (entry.object_name, entry.reason) == ("orders", "does it arrive?") and entry.after["sequence"]


@pytest.mark.parametrize(
    "more", [{"payload": "{"}, {"payload": ""}, {"payload": "1e999"}, {"payload": '1, "id": "x"'},
             {"type": ""}, {"reason": ""}, {"payload": "[" * 100_000}]
)  # fmt: skip
def test_what_is_no_event_is_refused_and_nothing_is_stored(login, topic, more):
    answer = login("Admin").post(url(topic), sent(**more))
    assert answer.status_code == 200 and 'role="alert"' in answer.content.decode()
    assert bodies(topic) == [] and not Audit.objects.exists()


@pytest.mark.parametrize("role", ["Viewer", "Operator"])
def test_only_who_may_publish_does(login, topic, role):
    client = login(role)
    assert client.post(url(topic), sent()).status_code == 403 and bodies(topic) == []
    assert "Your role may not publish." in client.get(f"/admin/topics/topic/{topic.pk}/change/").content.decode()
