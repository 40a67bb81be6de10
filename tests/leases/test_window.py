"""What stops new work: a full window, too much that is not settled, a pause."""

import pytest

from apps.cursors import operations as cursors
from apps.leases.errors import DestinationPaused, WindowFull
from tests.logs import Log, seen, sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def log():
    return Log.make()


# Window and maxUnsettled


def test_the_window_stops_new_work_with_the_numbers(log):
    log.append(5)
    reader = log.consumer(window_size=3)
    reader.pull("w1", limit=2)
    assert seen(reader, "w2", limit=2) == [2]
    with pytest.raises(WindowFull) as full:
        reader.pull("w3")
    assert full.value.details == {"leased": 3, "waiting": 0, "window": 3, "maxUnsettled": 10_000}
    assert 1 <= full.value.retry_after <= 5


def test_a_full_window_is_said_even_when_nothing_new_waits(log):
    log.append(1)
    reader = log.consumer(window_size=1)
    reader.pull("w1")
    with pytest.raises(WindowFull):
        reader.pull("w2")


def test_an_expired_lease_no_longer_fills_the_window(log):
    log.append(4)
    reader = log.consumer(window_size=2)
    lease = reader.pull("w1", limit=2)
    reader.run_out(lease.id)
    assert seen(reader, "w2", limit=1) == [0]
    assert seen(reader, "w3", limit=2) == [1]


def test_a_redelivery_gets_what_still_fits(log):
    log.append(9)
    reader = log.consumer(window_size=4)
    big = reader.pull("w1", limit=4)
    reader.run_out(big.id)
    assert seen(reader, "w2", limit=3) == [0, 1, 2]
    assert seen(reader, "w3", limit=3) == [3]
    with pytest.raises(WindowFull):
        reader.pull("w4")


def test_a_full_window_is_said_although_something_waits_for_redelivery(log):
    log.append(4)
    reader = log.consumer(window_size=2)
    failed = reader.pull("w1", limit=2)
    reader.fail(failed)
    cursors.change(reader.topic_id, reader.number, window_size=1)
    assert seen(reader, "w2", limit=2) == [0]
    with pytest.raises(WindowFull) as full:
        reader.pull("w3", limit=2)
    assert (full.value.details["leased"], full.value.details["waiting"]) == (1, 1)


def test_waiting_events_do_not_fill_the_window_but_max_unsettled_holds_them(log):
    log.append(9)
    reader = log.consumer(window_size=2, max_unsettled=4)
    for _ in range(2):
        reader.fail(reader.pull(limit=2), delay=100)
    with pytest.raises(WindowFull) as full:
        reader.pull()
    assert full.value.details == {"leased": 0, "waiting": 4, "window": 2, "maxUnsettled": 4}


def test_a_smaller_window_holds_at_once(log):
    log.append(9)
    reader = log.consumer()
    reader.pull("w1", limit=3)
    cursors.change(reader.topic_id, reader.number, window_size=3)
    with pytest.raises(WindowFull):
        reader.pull("w2")


# Pause


def test_paused_comes_before_everything_even_the_own_lease(log):
    log.append(2)
    reader = log.consumer(window_size=1)
    lease = reader.pull(limit=1)
    cursors.pause(reader.topic_id, reader.number, by="ana", reason="deploy")
    with pytest.raises(DestinationPaused) as paused:
        reader.pull()
    assert paused.value.retry_after >= 1
    reader.run_out(lease.id)
    with pytest.raises(DestinationPaused):
        reader.pull()
    cursors.resume(reader.topic_id, reader.number)
    assert reader.pull().id == lease.id


def test_a_pause_ends_by_itself(log):
    log.append()
    reader = log.consumer()
    [(soon,)] = sql("SELECT statement_timestamp() + interval '50 seconds'")
    cursors.pause(reader.topic_id, reader.number, by="ana", resume_at=soon)
    with pytest.raises(DestinationPaused) as paused:
        reader.pull()
    assert 20 < paused.value.retry_after <= 50
    sql("UPDATE consumer SET resume_at = statement_timestamp() WHERE id = %s", reader.number)
    assert seen(reader) == [0]
