"""The first page: what needs attention, before everything else."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from apps.console import health, metrics
from apps.console.models import BeatProof, OverviewSample
from apps.console.operations.sample import sample_overview
from apps.console.selectors.history import history
from apps.cursors.models import Consumer
from apps.destinations.operations.sample import sample_lag
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
    for age, settled, appended in ((1800, 0, 0), (0, 3600, 7200)):
        at, figures = timezone.now() - timedelta(seconds=age), dict.fromkeys(("lag_events", "in_flight", "waiting"), 0)
        OverviewSample.objects.create(
            at=at, appended=appended, settled=settled, queued=0, queued_dead=0, connections=0, **figures
        )
    html = login("Viewer").get("/admin/").content.decode()
    assert "4.0/s" in html and "2.0/s" in html


def test_what_is_a_rate_is_called_one(login):
    now, none = timezone.now(), dict.fromkeys(("settled", "lag_events", "in_flight", "waiting", "queued", "queued_dead"), 0)
    for age, appended, connections in ((60, 0, 2), (30, 3000, 1)):
        OverviewSample.objects.create(at=now - timedelta(seconds=age), appended=appended, connections=connections, **none)
    html = login("Viewer").get("/admin/").content.decode()
    assert "Events in, events/s, average over 30 s<" in html and "highest: 100.0 events/s<" in html
    assert "Events settled by destinations, events/s, average over 30 s<" in html and "highest: 0 events/min<" in html
    assert "highest: 2<" in html


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


def test_charts_show_sums_of_samples_and_rates_between_them(login, at_most):
    made = world.destination(world.topic(), "billing")
    world.sample(made, age=10, lag=40, settled=100, head=140)
    world.queue_sample(queue("mails"), 10, ready=7, dead=2)
    world.events(made.topic, 60)
    assert sample_overview() == 1
    while sample_overview() == 1:  # the clock passed a multiple of 15 s meanwhile
        OverviewSample.objects.earliest("at").delete()
    row = OverviewSample.objects.get()
    assert (row.appended, row.settled, row.lag_events, row.queued, row.queued_dead) == (60, 100, 40, 7, 2)
    earlier = row.at - timedelta(seconds=60)
    OverviewSample.objects.create(at=earlier, appended=0, settled=160, lag_events=10, in_flight=0, waiting=0, queued=0,
                                  queued_dead=0, connections=3)  # fmt: skip
    found = {chart.title.split(",")[0]: [value for _, value in chart.points] for chart in history("1h").charts}
    assert found["Events in"] == [1.0] and found["Events settled by destinations"] == [None]
    assert found["Lag of all destinations"] == [10.0, 40.0] and found["Depth of all queues"] == [0.0, 7.0]
    client = login("Viewer")
    for span in ("1h", "24h", "7d", "<b>"):
        with at_most(19):
            html = client.get(f"/admin/?span={span}").content.decode()
        assert "Live connections" in html and "<b>" not in html


def test_a_time_without_samples_is_a_gap_and_old_ones_are_forgotten(db):
    now = timezone.now()
    for age in (3000, 2985, 15, 0):
        OverviewSample.objects.create(at=now - timedelta(seconds=age), appended=0, settled=0, lag_events=5, in_flight=0,
                                      waiting=0, queued=0, queued_dead=0, connections=0)  # fmt: skip
    (lag,) = [chart for chart in history("1h").charts if chart.title == "Lag of all destinations"]
    assert None in [value for _, value in lag.points]
    world.execute("UPDATE overview_sample SET at = at - interval '9 days'")
    sample_overview()
    assert OverviewSample.objects.count() == 1


def test_dead_letters_of_destinations_need_somebody(login):
    made = world.destination(world.topic(), "billing")
    for number in range(3):
        world.dead_letter(made, number, error="<i>refused</i>")
    world.dead_letter(made, 5, error="TimeoutError")
    html = login("Viewer").get("/admin/").content.decode()
    assert "4 dead letters, of 2 errors" in html and "<i>refused" not in html and 'href="/admin/dead-letters/"' in html


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"enabled": False}, "switched off"),
        ({"sent_ago": timedelta(hours=2)}, "overdue: last sent 2 h ago"),
        ({"sent_ago": timedelta()}, None),
        ({}, None),
    ],
)
def test_a_sweep_that_is_not_sent_needs_somebody(login, fields, said):
    health.prove_beat()
    every = IntervalSchedule.objects.create(every=60, period="seconds")
    made = PeriodicTask.objects.create(name="sweep things", task="x.y", interval=every, enabled=fields.get("enabled", True))
    ago = fields.get("sent_ago")
    PeriodicTask.objects.filter(pk=made.pk).update(last_run_at=None if ago is None else timezone.now() - ago)
    html = login("Viewer").get("/admin/").content.decode()
    assert ("sweep things" in html) == (said is not None) and (said or "") in html


def test_the_same_number_stands_in_list_detail_api_overview_and_metrics(login, api):
    topic = world.topic()
    world.events(topic, 1234, age=600)
    made = world.destination(topic, "billing")
    world.execute("UPDATE cursor SET position = 1100 WHERE consumer_id = %s AND partition = 0", made.consumer_id)
    world.lease(made, 0, 1000, 100)
    sample_lag()
    metrics._looked_at = 0.0
    exposed = api.get("/metrics").content.decode()
    lag = api.get("/v1/event-destinations/billing/lag").json()
    assert (lag["lagEvents"], lag["inFlight"]) == (234, 100)
    assert f'towpath_lag_events{{kind="destination",name="billing",topic="{topic.name}"}} 234.0' in exposed
    assert f'towpath_in_flight{{kind="destination",name="billing",topic="{topic.name}"}} 100.0' in exposed
    client = login("Viewer")
    listed = client.get("/admin/destinations/destination/").content.decode()
    shown = client.get(f"/admin/destinations/destination/{made.pk}/change/").content.decode()
    overview = client.get("/admin/").content.decode()
    assert "234 events" in listed and "<dd>234</dd>" in shown and "<dd>234</dd>" in overview
    assert "100 / 1,000" in listed and "100 / 1,000" in shown
    for page in (listed, shown):
        assert lag["cause"]["text"] in page
