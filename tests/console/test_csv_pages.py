"""Leases, dead letters, queues and topics as files for a spreadsheet."""

import csv
import io
import re

import pytest

from apps.console.pages import dead_letters, files
from apps.leases.models import DeadLetter
from apps.queues.models import Queue
from core import csv_file
from tests.console import world

pytestmark = pytest.mark.django_db
FORMULA = "=cmd|' /C calc'!A0"


def table(answer) -> list[dict[str, str]]:
    assert answer.status_code == 200 and answer.streaming and "attachment" in answer["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode(), newline="")))


@pytest.fixture
def billing(db):
    topic = world.topic(partitions=2, name="orders")
    world.events(topic, 30)
    return world.destination(topic, "billing")


@pytest.fixture
def mails(db):
    return Queue.objects.create(name="mails")


def test_all_leases_are_given_over_destinations_groups_and_queues(login, billing, mails, monkeypatch):
    monkeypatch.setattr(files, "AT_ONCE", 4)
    for number in range(9):
        world.lease(billing, 0, number, 1, worker=f"w{number}", error=FORMULA)
    world.assign(world.group(billing.topic, "readers"), 0, "member-1")
    for number in range(6):
        world.claim(mails, f"w{number}")
    client = login("Viewer")
    rows = table(client.get("/admin/leases/csv/"))
    assert [row["kind"] for row in rows] == ["destination"] * 9 + ["group"] + ["queue"] * 6
    assert {row["error"] for row in rows if row["kind"] == "destination"} == {f"'{FORMULA}"}
    assert rows[0]["since"].endswith("Z") and rows[0]["what"].startswith("000.")
    assert len(table(client.get("/admin/leases/csv/?kind=queue"))) == 6
    assert [row["kind"] for row in table(client.get("/admin/leases/csv/?worker=w3"))] == ["destination", "queue"]
    assert "leases/csv/?kind=queue" in client.get("/admin/leases/?kind=queue").content.decode()


def test_dead_letters_are_given_by_error_and_one_by_one(login, billing, mails, monkeypatch):
    monkeypatch.setattr(files, "AT_ONCE", 2)
    for number in range(5):
        world.dead_letter(billing, number, error=f"{FORMULA} {'abcde'[number % 3]}")
    world.dead_event(mails, error="SMTP 421")
    client = login("Viewer")
    groups = table(client.get("/admin/dead-letters/csv/"))
    assert sorted((row["kind"], row["number"]) for row in groups) == [
        ("destination", "1"), ("destination", "2"), ("destination", "2"), ("queue", "1"),
    ]  # fmt: skip
    assert all(row["error"].startswith("'=") for row in groups if row["kind"] == "destination")
    path = f"/admin/dead-letters/{billing.pk}/{DeadLetter.objects.get(offset=0).fingerprint}/csv/"
    rows = table(client.get(path))
    assert sorted(row["event"] for row in rows) == ["000.00000000000000000000", "000.00000000000000000003"]
    assert "body" not in rows[0] and rows[0]["deliveries"] == "5"


def test_the_next_page_of_errors_goes_on_where_the_one_before_ended(login, billing, monkeypatch):
    monkeypatch.setattr(dead_letters, "SHOWN", 3)
    for number in range(10):
        world.dead_letter(billing, number, error=f"ValueError: {'abcdefghij'[number]}!")
    client, path, seen = login("Viewer"), "/admin/dead-letters/", []
    while path:
        html = client.get(path).content.decode()
        seen += re.findall(r"ValueError: (.)!", html)
        onward = re.search(r'href="(\?after=[^"]+)"', html)
        path = f"/admin/dead-letters/{onward[1]}" if onward else ""
    assert sorted(seen) == list("abcdefghij")


def test_queues_and_their_events_are_given(login, mails):
    world.queue_sample(mails, 5, ready=7, dead=2)
    Queue.objects.create(name="new")
    client = login("Viewer")
    rows = {row["queue"]: row for row in table(client.get("/admin/queues/queue/csv/"))}
    assert (rows["mails"]["ready"], rows["mails"]["dead"], rows["mails"]["state"]) == ("7", "2", "running")
    assert rows["new"]["ready"] in ("", None)
    dead = world.dead_event(mails, error=FORMULA, payload='{"secret":1}')
    world.claim(mails, "+worker")
    (event,) = table(client.get(f"/admin/queues/queue/{mails.pk}/events/csv/?state=dead"))
    assert (event["id"], event["error"]) == (str(dead), f"'{FORMULA}")
    assert not [value for value in event.values() if "secret" in value]
    (leased,) = table(client.get(f"/admin/queues/queue/{mails.pk}/events/csv/?state=leased"))
    assert leased["worker"] == "'+worker"


def test_topics_and_what_is_browsed_are_given(login, billing, monkeypatch):
    world.event(billing.topic, 40, subject=FORMULA, type="order.paid", partition=1)
    client = login("Viewer")
    (topic,) = table(client.get("/admin/topics/topic/csv/"))
    assert (topic["topic"], topic["partitions"], topic["hotRecords"]) == ("orders", "2", "71")
    path = f"/admin/topics/topic/{billing.topic_id}/events/csv/"
    assert len(table(client.get(path))) == 31
    (paid,) = table(client.get(f"{path}?partition=1&type=order.paid"))
    assert paid["subject"] == f"'{FORMULA}" and "data" not in paid
    assert [row["sequence"][-2:] for row in table(client.get(f"{path}?partition=0&start=27"))] == ["27", "28", "29"]
    monkeypatch.setattr(csv_file, "MOST", 5)
    assert len(table(client.get(f"{path}?partition=0&start=0"))) == 5


PATHS = ["/admin/leases/csv/", "/admin/dead-letters/csv/", "/admin/queues/queue/csv/", "/admin/topics/topic/csv/"]


@pytest.mark.parametrize("path", [*PATHS, "/admin/queues/queue/1/events/csv/", "/admin/topics/topic/1/events/csv/"])
def test_who_may_not_see_the_page_gets_no_file(login, client, path):
    for visitor in (client, login(None)):
        assert visitor.get(path)["Location"].startswith("/admin/login/")
