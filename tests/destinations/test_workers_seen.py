import threading

import pytest
from django.db import connection

from apps.destinations.operations import sight
from tests.patience import PATIENCE

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nobody_seen(db):
    sight.flush_sightings()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM worker_seen")


def rows():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT worker, seen_at <= statement_timestamp() FROM worker_seen WHERE topic_id = 900 ORDER BY worker"
        )
        return cursor.fetchall()


def test_a_sight_is_written_by_the_flush_and_not_before():
    sight.sight(900, 1, "w1")
    sight.sight(900, 1, "wörker 2 😀")
    assert rows() == []
    sight.flush_sightings()
    assert rows() == [("w1", True), ("wörker 2 😀", True)]
    assert sight.flush_sightings() == 0


def test_a_later_sight_moves_it_forward_only():
    sight.sight(900, 1, "w1")
    sight.flush_sightings()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE worker_seen SET seen_at = seen_at + interval '1 hour' WHERE topic_id = 900")
    sight.sight(900, 1, "w1")
    sight.flush_sightings()
    assert rows() == [("w1", False)]


def since():
    with connection.cursor() as cursor:
        cursor.execute("SELECT seen_since = seen_at FROM worker_seen WHERE topic_id = 900")
        return cursor.fetchone()[0]


@pytest.mark.parametrize(("gap", "is_new"), [(20, False), (90, True)])
def test_a_break_of_a_minute_begins_anew_since_when_a_worker_comes(gap, is_new):
    sight.sight(900, 1, "w1")
    sight.flush_sightings()
    assert since()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE worker_seen SET seen_at = seen_at - make_interval(secs => %s),"
            " seen_since = seen_since - interval '10 minutes' WHERE topic_id = 900",
            [gap],
        )
    sight.sight(900, 1, "w1")
    sight.flush_sightings()
    assert since() == is_new


def test_workers_are_forgotten_after_a_day_but_never_the_last_one_of_a_consumer():
    for worker in ("old", "older", "new"):
        sight.sight(900, 1, worker)
    sight.sight(900, 2, "only")
    sight.flush_sightings()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE worker_seen SET seen_at = seen_at - interval '2 days' WHERE worker <> 'new'")
    assert sight.forget_workers() == 2
    assert [worker for worker, _ in rows()] == ["new", "only"]


def test_a_client_that_makes_up_workers_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(sight, "MAX_REMEMBERED", 2)
    for number in range(5):
        sight.sight(900, 1, f"w{number}")
    assert sight.flush_sightings() == 2


def test_only_a_process_that_serves_tells_by_itself_and_at_its_end(monkeypatch):
    told, at_exit = threading.Event(), []
    monkeypatch.setattr(sight, "FLUSH_SECONDS", 0.01)
    monkeypatch.setattr(sight.atexit, "register", at_exit.append)

    def flush():
        told.set()
        threading.Event().wait()  # once is enough

    shell, server = sight._Sightings(), sight._Sightings()
    server.serves, server.flush = True, flush
    for process in (shell, server):
        process.add((900, 1, "w1"))
    assert told.wait(PATIENCE)
    assert shell._thread is None and len(at_exit) == 1
