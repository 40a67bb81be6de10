"""Queues in the browser: the pages fit, and what is dead is found from the overview."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.queues.models import Queue
from tests.browser.conftest import photograph
from tests.console import world
from tests.factories import Api, api_key

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def mails(server):
    api = Api(api_key())
    assert api.post("/v1/event-queues", {"name": "mails"}).status_code in (200, 201)
    for number in range(60):
        sent = api.post(
            "/v1/event-queues/mails/events", {"payload": {"to": f"a{number}@example.com", "text": "<b>hello</b>"}}
        )
        assert sent.status_code in (200, 201), sent.content
    made = Queue.objects.get(name="mails")
    for minute in range(50, 0, -1):
        world.queue_sample(
            made, minute * 60, ready=60 - minute, dead=2, oldest_at=timezone.now() - timedelta(minutes=minute)
        )
    return made


def test_a_queue_is_found_by_its_dead_events_and_read_event_by_event(visit, mails):
    page = visit("Admin")
    photograph(page, "overview-queues")
    page.click(".tp-attention a:text('mails') >> nth=0")
    page.wait_for_selector("#events")
    photograph(page, "queue")
    page.goto("/admin/queues/queue/")
    photograph(page, "queues")
    page.goto("/admin/queues/schedule/")
    photograph(page, "schedules")


LONG = "warehouse.europe-west.goods-received.reconciliation-with-suppliers:" + "x" * 133


@pytest.fixture
def crowded(server):
    """Names as long as they may be, an event in each state, a schedule of each kind."""
    api = Api(api_key())
    queue = f"/v1/event-queues/{LONG}"
    calls = [
        ("/v1/event-queues", {"name": LONG, "maxAttempts": 1}),
        (f"{queue}/events", {"payload": {"text": "y" * 300}, "groupKey": "k" * 200, "idempotencyKey": "i" * 200}),
        (f"{queue}/events", {"payload": {"n": 1}, "groupKey": "k" * 200}),
        (f"{queue}/events", {"payload": {"n": 2}, "delaySeconds": 2_592_000}),
        (f"{queue}/events", {"payload": {"n": 3}, "priority": 100}),
        (f"{queue}/events", {"payload": {"n": 4}, "priority": -100}),
        ("/v1/schedules", {"queue": LONG, "name": LONG, "payload": {"z": "z" * 300}, "cron": "*/5 8-18 1,15 * MON-FRI",
                           "timeZone": "America/Argentina/ComodRivadavia"}),
        ("/v1/schedules", {"queue": LONG, "name": "every", "payload": {}, "everySeconds": 31_536_000}),
        ("/v1/schedules", {"queue": LONG, "name": "once", "payload": {}, "at": "2099-02-28T23:59:59Z", "enabled": False}),
    ]  # fmt: skip
    for path, body in calls:
        made = api.post(path, body)
        assert made.status_code == 201, made.content
    dead = api.post(f"{queue}/claim", {"workerId": "w" * 200}).json()["data"]
    api.post(f"/v1/events/{dead['event']['id']}/nack", {"leaseToken": dead["leaseToken"], "error": "e" * 2000})
    api.post(f"{queue}/claim", {"workerId": "w" * 200})
    assert api.post(f"{queue}/pause", {"reason": "r" * 500}).status_code == 200
    made = Queue.objects.get(name=LONG)
    world.queue_sample(made, 5, ready=1_234_567, dead=100_000, oldest_at=timezone.now() - timedelta(days=400))
    return made


def test_nothing_is_cut_however_long_the_names_and_whatever_the_state(visit, crowded):
    page = visit("Admin")
    queue = f"/admin/queues/queue/{crowded.pk}/change/"
    for name, path in (("queues", "/admin/queues/queue/"), ("queue", queue), ("schedules", "/admin/queues/schedule/")):
        page.goto(path)
        photograph(page, f"long-{name}")
    for state in ("leased", "dead"):
        page.goto(f"{queue}?state={state}")
        photograph(page, f"long-queue-{state}")
        page.click(".tp-table a[href*='/events/'] >> nth=0")
        page.wait_for_selector(".tp-payload")
        photograph(page, f"long-event-{state}")
    for schedule in crowded.schedules.all():
        page.goto(f"/admin/queues/schedule/{schedule.pk}/change/")
        photograph(page, f"long-schedule-{schedule.name[:5]}")
        if schedule.cron:
            assert page.inner_text(".tp-list").count("-0300") == 5  # its own zone, though the reader is in Berlin
    page.goto(f"/admin/queues/queue/{crowded.pk}/do/purge/")
    photograph(page, "long-purge")
