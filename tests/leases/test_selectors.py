import pytest

from apps.cursors import operations as cursors
from apps.leases import selectors
from tests.logs import Log, sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader():
    log = Log.make()
    log.append(10)
    return log.consumer()


def due_in(reader):
    return selectors.due_in(reader.topic_id, reader.number)


def page(reader, limit, after=None):
    return selectors.leases(reader.topic_id, reader.number, limit=limit, after=after)


def test_nothing_falls_due_by_time_alone_when_nothing_is_out(reader):
    assert due_in(reader) is None
    assert selectors.due_in(reader.topic_id, 0) is None


def test_the_next_end_of_a_lease_or_of_a_delay_is_when_something_falls_due(reader):
    reader.pull("w1", limit=1, visibility=600)
    assert due_in(reader) == pytest.approx(600, abs=60)
    reader.fail(reader.pull("w2", limit=1), delay=400)
    assert due_in(reader) == pytest.approx(400, abs=60)


def test_the_end_of_a_pause_is_such_a_time_too(reader):
    [(soon,)] = sql("SELECT statement_timestamp() + interval '900 seconds'")
    cursors.pause(reader.topic_id, reader.number, by="ana", resume_at=soon)
    assert due_in(reader) == pytest.approx(900, abs=60)
    cursors.pause(reader.topic_id, reader.number, by="ana")
    assert due_in(reader) is None


def test_leases_are_listed_in_the_order_they_were_first_handed_out_page_by_page(reader):
    given = [reader.pull(f"w{n}", limit=1).id for n in range(3)]
    first = page(reader, 2)
    assert [row.id for row in first + page(reader, 2, first[-1].id)] == given
    assert [row.worker for row in first] == ["w0", "w1"]


def test_a_lease_is_leased_expired_or_waiting(reader):
    held, over, noted, failed = (reader.pull(f"w{n}", limit=2) for n in range(4))
    reader.run_out(noted.id)
    sql("UPDATE lease SET state = 'expired' WHERE id = %s", noted.id)
    reader.run_out(over.id)
    reader.fail(failed, error="no disk")
    rows = {row.id: row for row in page(reader, 10)}
    assert [rows[lease.id].state for lease in (held, over, noted, failed)] == ["leased", "expired", "expired", "waiting"]
    assert (rows[failed.id].error, rows[failed.id].events, rows[failed.id].first_offset) == ("no disk", 2, 6)


def test_the_first_unsettled_offset_is_that_of_the_oldest_lease_or_the_position(reader):
    assert reader.unsettled() == 0
    first, second = reader.pull("w1", limit=3), reader.pull("w2", limit=3)
    reader.ok(second)
    assert reader.unsettled() == 0
    reader.ok(first)
    assert reader.unsettled() == 6
