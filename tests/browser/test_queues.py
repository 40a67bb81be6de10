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
