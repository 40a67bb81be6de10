"""Lists ask as much for many rows as for few, and find by what is indexed."""

import pytest
from django.db import connection
from django.utils import timezone

from apps.console.selectors.matching import Objects, Wanted, matching
from apps.leases.operations.park import fingerprint
from apps.queues.models import Queue, Schedule
from tests.console import world

pytestmark = pytest.mark.django_db

ERRORS = [
    "",
    " \n",
    "SMTP 421: try again in 17 s",
    "Order 6f9619ff-8b86-d011-b42d-00c04fc964ff at 0xDEADBEEF is gone\nTraceback: 1",
    "é" * 300,
    "ValueError: " + "9" * 1200,
]


def test_a_list_of_schedules_asks_for_the_time_once(login, at_most):
    queue = Queue.objects.create(name="mails")
    for number in range(40):
        Schedule.objects.create(
            queue=queue, name=f"s{number}", payload="{}", cron="0 4 * * *", created_at=timezone.now(),
            planned_until=timezone.now(),
        )  # fmt: skip
    client = login("Viewer")
    with at_most(8):
        html = client.get("/admin/queues/schedule/").content.decode()
    assert html.count(">in ") >= 40


def test_destinations_of_a_state_are_asked_once_where_they_stand(login, at_most):
    topic = world.topic()
    world.events(topic, 50, age=600)
    for number in range(30):
        made = world.destination(topic, f"d{number}")
        if number % 2:
            world.execute("UPDATE consumer SET paused_at = now(), pause_reason = 'x' WHERE id = %s", made.consumer_id)
    client = login("Viewer")
    with at_most(10):
        html = client.get("/admin/destinations/destination/?state=paused").content.decode()
    assert html.count("tp-state-paused") == 15 and "tp-state-active" not in html


@pytest.mark.parametrize("error", ERRORS)
def test_the_database_makes_the_fingerprint_that_we_make(error):
    with connection.cursor() as cursor:
        cursor.execute("SELECT error_fingerprint(%s)", [error])
        assert cursor.fetchone()[0] == fingerprint(error)


def test_dead_events_are_matched_by_the_fingerprint_of_their_error():
    queue = Queue.objects.create(name="mails")
    wanted = [world.dead_event(queue, error=f"SMTP 421: {number}", age=100 - number) for number in range(3)]
    world.dead_event(queue, error="SMTP refused")
    world.dead_event(Queue.objects.create(name="letters"), error="SMTP refused")
    found = matching(Wanted("redrive", Objects.QUEUE_DEAD_LETTERS, fingerprint=fingerprint("SMTP 421: 9")))
    assert found == [(queue.uid, event) for event in wanted]
    assert len(matching(Wanted("redrive", Objects.QUEUE_DEAD_LETTERS))) == 5


def test_a_button_that_would_do_nothing_says_why(login):
    queue = Queue.objects.create(name="mails")
    schedule = Schedule.objects.create(
        queue=queue, name="nightly", payload="{}", cron="0 4 * * *", created_at=timezone.now(), planned_until=timezone.now()
    )
    client = login("Operator")
    html = client.get(f"/admin/queues/queue/{queue.pk}/change/").content.decode()
    assert 'disabled title="It is not paused.">Resume…' in html and ">Pause…</a>" in html
    assert 'disabled title="Not with your role.">Purge…' in html
    html = client.get(f"/admin/queues/schedule/{schedule.pk}/change/").content.decode()
    assert 'disabled title="It is on already.">Enable…' in html and ">Disable…</a>" in html and ">Run now…</a>" in html
    dead = world.dead_event(queue)
    html = client.get(f"/admin/queues/queue/{queue.pk}/events/{dead}/").content.decode()
    assert ">Redrive…</a>" in html and 'disabled title="Not with your role.">Discard…' in html and "Run now" not in html


@pytest.mark.parametrize("path", ["queues/queue/", "access/apikey/", "channels/channel/", "access/audit/", "console/bulk/"])
def test_an_empty_list_says_so_and_proposes_nothing_that_cannot_be_done(login, path):
    client = login("Viewer")
    html = client.get(f"/admin/{path}").content.decode()
    assert "There are none yet." in html and "Make one" not in html and "new item" not in html
    if path != "console/bulk/":
        found = client.get(f"/admin/{path}?q=nothing").content.decode()
        assert "Nothing matches." in found and 'href="?">Show all' in found


def test_an_empty_list_leads_to_the_form_of_who_may_make_one(login):
    assert 'href="/admin/access/apikey/add/">Make one' in login("Admin").get("/admin/access/apikey/").content.decode()
