"""Queues and schedules in the admin: who sees what, and each action as one operation after a confirmation."""

import importlib

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User

from apps.access.models import Audit
from apps.queues.models import Queue, Schedule
from apps.queues.operations import sampling
from tests.queues.conftest import data, execute

MARKUP = "<script>alert(1)</script>"


@pytest.fixture
def as_role(client, db):
    # Tests with transactions of their own empty every table, also of what a migration put there.
    importlib.import_module("apps.console.migrations.0001_roles").make_roles(apps, None)

    def login(role: str):
        user = User.objects.create_user(role.lower(), is_staff=True)
        user.groups.add(Group.objects.get(name=role))
        client.force_login(user)
        return client

    return login


def page_of(worker, tail: str = "") -> str:
    return f"/admin/queues/queue/{Queue.objects.get(name=worker.queue).pk}/{tail}"


def text(answer) -> str:
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_the_list_shows_the_last_sample_and_counts_nothing(as_role, worker, django_assert_max_num_queries):
    for n in range(3):
        worker.enqueue({"n": n})
    worker.claim()
    sampling.sample(Queue.objects.get(name=worker.queue).pk)
    client = as_role("Viewer")
    with django_assert_max_num_queries(12) as captured:
        html = text(client.get("/admin/queues/queue/"))
    assert worker.queue in html
    assert "running" in html
    assert not [query["sql"] for query in captured.captured_queries if "COUNT(" in query["sql"]]


def test_the_page_of_a_queue_shows_its_events_by_state_escaped_and_without_payloads(
    as_role, worker, django_assert_max_num_queries
):
    worker.enqueue({"secret": "quicksilver"}, groupKey=MARKUP)
    worker.enqueue({}, groupKey=MARKUP)
    client = as_role("Viewer")
    with django_assert_max_num_queries(20):
        html = text(client.get(page_of(worker, "change/")))
    assert MARKUP not in html
    assert "&lt;script&gt;" in html
    assert "quicksilver" not in html
    assert "No event is dead" in text(client.get(page_of(worker, "change/?state=dead")))
    assert "blocked" in text(client.get(page_of(worker, "change/?state=blocked&span=24h")))


def test_an_events_payload_needs_its_own_permission(as_role, worker):
    made = worker.enqueue({"secret": MARKUP})
    path = page_of(worker, f"events/{made['id']}/")
    viewer = as_role("Viewer")
    assert "may not see payloads" in text(viewer.get(path))
    assert viewer.get(path + "raw/").status_code == 403
    admin = as_role("Admin")
    html = text(admin.get(path))
    assert MARKUP not in html
    assert "&lt;script&gt;" in html
    assert text(admin.get(path + "raw/")) == f'{{"secret": "{MARKUP}"}}'
    assert admin.get(page_of(worker, "events/019ad0a6-6a4c-7c1e-b0f3-5d8a0c6f2b11/")).status_code == 404


def confirm(client, path: str, **fields):
    """The action's page, then its button."""
    asked = text(client.get(path))
    assert "What will happen" in asked
    return client.post(path, {"confirmed": "1", "reason": "because", **fields})


def test_pause_and_resume_ask_first_and_are_recorded_with_the_reason(as_role, worker):
    client = as_role("Operator")
    assert confirm(client, page_of(worker, "do/pause/")).status_code == 302
    assert worker.get()["pauseReason"] == "because"
    assert "Paused" in text(client.get(page_of(worker, "change/")))
    assert confirm(client, page_of(worker, "do/resume/")).status_code == 302
    assert worker.get()["pausedAt"] is None
    assert list(Audit.objects.filter(actor_kind="user").order_by("id").values_list("verb", "reason")) == [
        ("pause", "because"),
        ("resume", "because"),
    ]


def test_a_get_changes_nothing(as_role, worker):
    client = as_role("Admin")
    for verb in ("pause", "purge", "delete"):
        client.get(page_of(worker, f"do/{verb}/"))
        client.get(page_of(worker, f"do/{verb}/?confirmed=1&reason=x&name={worker.queue}"))
    assert worker.get()["pausedAt"] is None


def test_the_chosen_queues_are_paused_together(as_role, new_worker):
    workers = [new_worker(), new_worker()]
    numbers = [str(Queue.objects.get(name=worker.queue).pk) for worker in workers]
    client = as_role("Operator")
    fields = {"action": "pause_chosen", "_selected_action": numbers}
    assert "What will happen" in text(client.post("/admin/queues/queue/", fields))
    assert client.post("/admin/queues/queue/", {**fields, "confirmed": "1", "reason": "deploy"}).status_code == 302
    assert all(worker.get()["pauseReason"] == "deploy" for worker in workers)


def test_purge_and_delete_want_the_name_typed_and_the_right_role(as_role, worker):
    worker.enqueue()
    for verb in ("purge", "delete"):
        assert as_role("Viewer" if verb == "purge" else "Operator").get(page_of(worker, f"do/{verb}/")).status_code == 403
    client = as_role("Admin")
    assert "This is not" in text(confirm(client, page_of(worker, "do/purge/"), name="other"))
    assert confirm(client, page_of(worker, "do/purge/"), name=worker.queue).status_code == 302
    assert worker.get("/events")["items"] == []
    assert confirm(client, page_of(worker, "do/delete/"), name=worker.queue).status_code == 302
    assert worker.api.get(worker.path).status_code == 404


def test_events_are_run_now_redriven_and_discarded(as_role, new_worker):
    worker = new_worker(maxAttempts=1)
    waiting = worker.enqueue({"n": 1}, delaySeconds=3600)
    client = as_role("Admin")
    path = page_of(worker, f"events/{waiting['id']}/do/")
    assert "disabled" in text(client.get(path + "redrive/"))
    assert confirm(client, path + "run-now/").status_code == 302
    worker.nack(worker.claim(), error=MARKUP)
    assert MARKUP not in text(client.get(page_of(worker, f"events/{waiting['id']}/")))
    assert confirm(client, path + "redrive/").status_code == 302
    (new,) = worker.get("/events")["items"]
    assert new["causedBy"] == waiting["id"]
    assert confirm(client, page_of(worker, f"events/{new['id']}/do/discard/")).status_code == 302
    assert worker.get("/events")["items"] == []
    assert client.get(page_of(worker, f"events/{new['id']}/do/nothing/")).status_code == 404


def test_schedules_show_their_next_five_times_and_are_switched(as_role, worker):
    body = {
        "queue": worker.queue,
        "name": "nightly",
        "payload": {"secret": 1},
        "cron": "30 2 * * *",
        "timeZone": "Europe/Berlin",
    }
    data(worker.api.post("/v1/schedules", body), 201)
    schedule = Schedule.objects.get()
    path = f"/admin/queues/schedule/{schedule.pk}/"
    client = as_role("Operator")
    assert "nightly" in text(client.get("/admin/queues/schedule/"))
    html = text(client.get(path + "change/"))
    assert html.count(" 02:30:00 +0") == 5
    assert confirm(client, path + "do/disable/").status_code == 302
    assert not Schedule.objects.get().enabled
    assert confirm(client, path + "do/run-now/").status_code == 302
    assert execute("SELECT count(*) FROM queue_event") == [(1,)]
    assert confirm(client, path + "do/enable/").status_code == 302
    Schedule.objects.update(time_zone="Asia/Gone")
    assert "Asia/Gone" in text(client.get(path + "change/"))
    assert "nightly" in text(client.get("/admin/queues/schedule/"))


def test_nobody_without_a_role_sees_anything(client, worker):
    for path in (
        "/admin/queues/queue/",
        "/admin/queues/schedule/",
        page_of(worker, "change/"),
        page_of(worker, "do/pause/"),
    ):
        assert client.get(path).status_code in (302, 403)
