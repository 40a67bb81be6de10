"""Lists as files for a spreadsheet."""

import csv
import io

import pytest

from apps.access import audit
from core import csv_file
from tests.console import world

pytestmark = pytest.mark.django_db
TRAIL, DESTINATIONS = "/admin/access/audit/csv/", "/admin/destinations/destination/csv/"


def table(answer) -> list[dict[str, str]]:
    assert answer.status_code == 200 and answer.streaming
    assert answer["Content-Type"] == "text/csv; charset=utf-8" and "attachment" in answer["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode(), newline="")))


def test_the_trail_is_given_with_what_was_before_and_after(login):
    audit.record(None, "pause", "queue", "mail", before={"paused": False}, after={"by": 'ü,\n"x"'}, reason="night")
    (row,) = table(login("Viewer").get(TRAIL))
    assert (row["verb"], row["object"], row["reason"], row["before"]) == ("pause", "mail", "night", '{"paused": false}')
    assert row["after"] == '{"by": "ü,\\n\\"x\\""}' and row["at"].endswith("Z")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_a_formula(login, start):
    audit.record(None, "pause", "queue", "mail", reason=f"{start}cmd|' /C calc'!A0")
    (row,) = table(login("Viewer").get(TRAIL))
    assert row["reason"] == f"'{start}cmd|' /C calc'!A0"


def test_a_negative_number_stays_a_number():
    assert list(csv_file.lines(["n"], [[-1, None]])) == ["n\r\n", "-1,\r\n"]


def test_destinations_are_given_with_their_state_and_lag(login, at_most):
    topic = world.topic(name="orders")
    world.events(topic, 7)
    for number in range(30):
        world.destination(topic, f"d{number}")
    client = login("Viewer")
    with at_most(20):
        rows = table(client.get(DESTINATIONS))
    assert len(rows) == 30
    assert {(row["topic"], row["state"], row["lagEvents"]) for row in rows} == {("orders", "active", "7")}


def test_the_file_has_what_the_list_was_filtered_to(login):
    for name in ("billing", "shipping"):
        world.destination(world.topic(), name)
    client = login("Viewer")
    assert [row["destination"] for row in table(client.get(f"{DESTINATIONS}?q=ship&p=7"))] == ["shipping"]
    assert 'href="csv/?q=ship"' in client.get("/admin/destinations/destination/?q=ship").content.decode()
    assert 'href="csv/?' in client.get("/admin/access/audit/").content.decode()
    assert client.get(f"{DESTINATIONS}?nonsense__x=1").status_code == 400


def test_no_more_rows_than_are_allowed(login, monkeypatch):
    monkeypatch.setattr(csv_file, "MOST", 3)
    for number in range(5):
        audit.record(None, "pause", "queue", f"q{number}")
    assert [row["object"] for row in table(login("Viewer").get(TRAIL))] == ["q4", "q3", "q2"]


@pytest.mark.parametrize("path", [TRAIL, DESTINATIONS])
def test_who_may_not_see_the_list_gets_no_file(login, client, path):
    for visitor in (client, login(None)):
        assert visitor.get(path)["Location"].startswith("/admin/login/")
