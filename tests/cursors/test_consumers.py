from datetime import timedelta

import pytest

from apps.cursors import operations as cursors
from apps.cursors.errors import OutOfLog
from apps.cursors.models import Consumer, Kind
from apps.leases.operations.pull import Nothing
from core import clock
from core.errors import NotFound
from tests.logs import Log, sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def log():
    log = Log.make(partitions=2)
    log.append(5, partition=0)
    log.append(3, partition=1)
    return log


def positions(reader):
    return dict(sql("SELECT partition, position FROM cursor WHERE consumer_id = %s ORDER BY 1", reader.number))


def row(reader):
    return Consumer.objects.get(topic_id=reader.topic_id, consumer_id=reader.number)


def test_it_starts_at_the_head_so_that_earlier_events_are_never_handed_out(log):
    reader = log.consumer(start="head")
    assert positions(reader) == {0: 5, 1: 3}
    assert isinstance(reader.pull(), Nothing)
    log.append(partition=1)
    assert reader.pull().first_offset == 3


def test_it_may_start_at_the_oldest_event_kept(log):
    sql("UPDATE topic_partition SET oldest_offset = 2 WHERE topic_id = %s AND partition = 0", log.topic.id)
    assert positions(log.consumer(start="oldest")) == {0: 2, 1: 0}


def test_a_start_at_the_head_of_a_partition_that_is_wholly_cold_is_its_head(log):
    sql("DELETE FROM event WHERE topic_id = %s", log.topic.id)
    sql("UPDATE topic_partition SET hot_offset = 5 WHERE topic_id = %s", log.topic.id)
    assert positions(log.consumer(start="head")) == {0: 5, 1: 5}


def test_a_start_in_time_is_the_first_event_appended_then_or_later(log):
    for offset in range(5):
        sql("UPDATE event SET appended_at = '2026-01-01T00:00:00Z'::timestamptz + %s * interval '1 minute'"
            ' WHERE topic_id = %s AND partition = 0 AND "offset" = %s', offset // 2, log.topic.id, offset)  # fmt: skip
    for minute, expected in [(-1, 0), (0, 0), (0.5, 2), (1, 2), (2, 4), (3, 5), (99, 5)]:
        time = clock.parse_time("2026-01-01T00:00:00Z", "time") + timedelta(minutes=minute)
        assert positions(log.consumer(start=time))[0] == expected, minute


def test_a_start_at_a_sequence_delivers_it_next_and_leaves_other_partitions_at_the_head(log):
    assert positions(log.consumer(start=[(0, 2)])) == {0: 2, 1: 3}
    assert positions(log.consumer(start=[(0, 5), (1, 0)])) == {0: 5, 1: 0}


@pytest.mark.parametrize("start", [[(0, 6)], [(2, 0)], [(0, 1), (0, 2)], [(0, -1)]])
def test_a_sequence_that_is_not_in_the_log_is_refused_and_nothing_is_made(log, start):
    with pytest.raises(OutOfLog) as refused:
        log.consumer(start=start)
    assert refused.value.details["field"] == "startAt"
    assert not Consumer.objects.filter(topic_id=log.topic.id).exists()


def test_below_the_oldest_offset_the_answer_says_which_is_the_oldest(log):
    sql("UPDATE topic_partition SET oldest_offset = 2 WHERE topic_id = %s", log.topic.id)
    with pytest.raises(OutOfLog) as refused:
        log.consumer(start=[(0, 1)])
    assert refused.value.details["oldestOffset"] == 2


def test_consumers_of_one_topic_do_not_see_each_other(log):
    first, second = log.consumer(), log.consumer()
    first.ok(first.pull(limit=5))
    assert second.pull(limit=5).first_offset == 0
    assert (first.unsettled(), second.unsettled()) == (5, 0)


def test_a_pause_twice_keeps_the_newer_reason_and_a_resume_twice_is_harmless(log):
    reader = log.consumer()
    place = reader.topic_id, reader.number
    cursors.pause(*place, by="ana", reason="deploy", resume_at=clock.parse_time("2030-01-01T00:00:00Z", "resumeAt"))
    cursors.pause(*place, by="bob")
    assert (row(reader).paused_by, row(reader).pause_reason, row(reader).resume_at) == ("bob", None, None)
    cursors.resume(*place)
    cursors.resume(*place)
    assert row(reader).paused_at is None


def test_changing_what_is_gone_is_not_found(log):
    for change in (lambda: cursors.resume(log.topic.id, 0), lambda: cursors.change(log.topic.id, 0, window_size=1)):
        with pytest.raises(NotFound):
            change()


def test_deleting_a_consumer_takes_its_positions_along_and_frees_its_name(log):
    reader = log.consumer()
    name = row(reader).name
    cursors.delete_consumer(reader.topic_id, reader.number)
    assert positions(reader) == {}
    cursors.create_consumer(log.topic.id, Kind.DESTINATION, name)


@pytest.mark.django_db(transaction=True)
def test_whoever_waits_is_told_of_a_resume_a_change_a_failure_and_an_expiry(monkeypatch):
    told = []
    monkeypatch.setattr("core.notices._outbox.add", lambda key, count: told.append(key))
    log = Log.make()
    log.append(3)
    reader = log.consumer()
    key = f"consumer:{reader.number}"
    lease = reader.pull(limit=1)
    for happen in (
        lambda: cursors.resume(reader.topic_id, reader.number),
        lambda: cursors.change(reader.topic_id, reader.number, window_size=5),
        lambda: reader.fail(lease),
    ):
        told.clear()
        happen()
        assert told == [key]
