"""The first page: what needs attention, before everything else."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.console import health
from apps.console.models import BeatProof
from apps.cursors.models import Consumer
from apps.queues.models import Queue, Schedule
from tests.console import world

pytestmark = pytest.mark.django_db
PATHS = ("/admin/", "/admin/overview/live/")


def test_an_empty_installation_says_so_and_is_not_alarmed(login):
    health.prove_beat()
    html = login("Viewer").get("/admin/").content.decode()
    assert "There are no destinations and no queues yet" in html and "Beat is silent" not in html


@pytest.mark.parametrize("path", PATHS)
def test_what_stands_still_comes_first_with_its_cause_and_a_link(login, path):
    topic = world.topic()
    world.events(topic, 30, age=600)
    full = world.destination(topic, "full", window_size=5)
    world.lease(full, 0, 0, 5)
    stopped = world.destination(topic, "stopped")
    Consumer.objects.filter(consumer_id=stopped.consumer_id).update(disabled_at="2026-01-01T00:00:00Z", disabled_reason="x")
    html = login("Viewer").get(path).content.decode()
    assert "window full: 5 of 5 leased" in html and "disabled: x" in html
    assert html.index(">stopped<") < html.index(">full<")
    assert f"/admin/destinations/destination/{full.pk}/change/" in html
    assert "<dd>60</dd>" in html


def test_what_moves_needs_nobody(login):
    made = world.destination(world.topic(), "quiet")
    health.prove_beat()
    world.sample(made, age=5, lag=0, settled=0, head=0)
    html = login("Viewer").get("/admin/").content.decode()
    assert "Nothing: all that reads is moving or caught up." in html


@pytest.mark.parametrize(("age", "silent"), [(10, False), (60, True), (None, True)])
def test_a_silent_beat_is_noticed(login, age, silent):
    health.prove_beat()
    if age is None:
        BeatProof.objects.all().delete()
    else:
        BeatProof.objects.update(proved_at=timezone.now() - timedelta(seconds=age))
    assert ("Beat is silent" in login("Viewer").get("/admin/").content.decode()) == silent


def test_the_rates_come_from_the_samples(login):
    made = world.destination(world.topic(), "quiet")
    world.sample(made, age=1800, lag=0, settled=0, head=0)
    world.sample(made, age=0, lag=0, settled=3600, head=7200)
    html = login("Viewer").get("/admin/").content.decode()
    assert "4.0/s" in html and "2.0/s" in html


def queue(name: str, **fields) -> Queue:
    return Queue.objects.create(name=name, **fields)


def test_queues_that_do_not_empty_need_somebody_too(login):
    world.queue_sample(queue("unclaimed"), 0, ready=1200, oldest_at=timezone.now() - timedelta(minutes=23))
    world.queue_sample(queue("failing"), 0, dead=3)
    world.queue_sample(queue("halted", paused_at=timezone.now()), 0, ready=7)
    world.queue_sample(queue("busy"), 0, ready=5, oldest_at=timezone.now())
    html = login("Viewer").get("/admin/").content.decode()
    assert "not claimed for 23 min" in html and "3 dead events" in html and "7 events ready" in html
    assert ">busy<" not in html
    assert html.index(">failing<") < html.index(">unclaimed<") < html.index(">halted<")
    assert "<dd>1,212</dd>" in html


def test_a_schedule_that_cannot_fire_is_named(login):
    Schedule.objects.create(
        queue=queue("mails"), name="nightly", payload="{}", cron="0 3 * * *", planned_until=timezone.now(),
        created_at=timezone.now(), error="There is no time zone Mars/Base.",
    )  # fmt: skip
    assert "There is no time zone Mars/Base." in login("Viewer").get("/admin/").content.decode()
