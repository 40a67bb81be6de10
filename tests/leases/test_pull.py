"""What a pull hands out, to whom, and that it is the same again until it is settled."""

import json

import pytest

from apps.leases.operations import pull as handing_out
from apps.leases.operations.acknowledge import extend
from apps.leases.operations.pull import Nothing
from core.errors import NotFound, Unavailable
from tests.logs import Log, seen, sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def log():
    return Log.make()


# The first hand-out


def test_a_new_batch_has_generation_0_attempt_1_and_events_in_offset_order(log):
    log.append(3)
    lease = log.consumer().pull(limit=2)
    assert (lease.origin, lease.generation, lease.attempt, list(lease.offsets)) == ("new", 0, 1, [0, 1])


def test_it_says_nothing_when_caught_up(log):
    reader = log.consumer()
    assert reader.pull() == Nothing(more=False)
    log.append()
    reader.ok(reader.pull())
    assert reader.pull() == Nothing(more=False)


def test_different_workers_get_different_events(log):
    log.append(4)
    reader = log.consumer()
    assert seen(reader, "w1", limit=2) == [0, 1]
    assert seen(reader, "w2", limit=2) == [2, 3]
    assert seen(reader, "w3", limit=2) is None


def test_a_batch_is_of_one_partition_and_the_least_recently_served_with_something_waiting_is_next():
    log = Log.make(partitions=4)
    for partition in (1, 2):
        log.append(4, partition=partition)
    reader = log.consumer()
    served = []
    for _ in range(4):
        lease = reader.pull(limit=2)
        served.append(lease.partition)
        reader.ok(lease)
    assert served == [1, 2, 1, 2]
    assert seen(reader) is None


def test_the_lease_ends_after_the_visibility_by_the_clock_of_the_database(log):
    log.append()
    lease = log.consumer().pull(visibility=300)
    [(left,)] = sql("SELECT extract(epoch FROM %s - statement_timestamp())", lease.expires_at)
    assert 200 < left <= 300


def test_events_are_given_as_sent_with_their_sequence(log):
    log.append(2)
    batch = log.consumer().batch(limit=2)
    assert batch.events[1] == '{"id":"id-1","sequence":"000.00000000000000000001"}'
    assert len(batch.events) == 2


def test_a_record_is_given_as_a_cloud_event_with_its_payload_as_a_string(log):
    log.append()
    payload = 'a "quote", a \\ and \n'
    sql("UPDATE event SET kind = 0, type = NULL, source = NULL, partition_key = 'é', body = %s WHERE topic_id = %s",
        payload, log.topic.id)  # fmt: skip
    event = json.loads(log.consumer().batch().events[0])
    place = "000.00000000000000000000"
    assert event == {
        "specversion": "1.0", "id": f"{log.topic.uid}/{place}", "source": f"/v1/topics/{log.topic.name}",
        "type": "towpath.record", "partitionkey": "é", "subject": "é", "data": payload, "sequence": place,
    }  # fmt: skip


def test_a_consumer_that_is_gone_is_not_found(log):
    with pytest.raises(NotFound):
        handing_out.lease_next(log.topic.id, 0, limit=1, visibility=1, worker="")


# A batch of at most 4 MiB


def test_a_batch_ends_at_four_mebibytes(log):
    log.append(100, size=256 * 1024)
    reader = log.consumer()
    lease = reader.pull(limit=100)
    assert len(lease.offsets) == 15
    assert seen(reader, "w2", limit=100) == list(range(15, 30))


def test_a_batch_is_never_below_one_event(log, monkeypatch):
    monkeypatch.setattr(handing_out, "MAX_BYTES", 10)
    log.append(2, size=1000)
    assert seen(log.consumer()) == [0]


def test_events_a_filter_leaves_out_do_not_count_towards_the_bytes(log):
    for _ in range(10):
        log.append(10, size=200 * 1024, kind="noise")
        log.append(1, size=200 * 1024, kind="signal")
    assert len(log.consumer(types=["signal"]).pull(limit=100).offsets) == 10


# The own lease


def test_pulling_again_gives_literally_the_same_lease(log):
    log.append(5)
    reader = log.consumer()
    first, again = reader.batch(limit=2), reader.batch(limit=2)
    assert again.lease.origin == "own"
    assert (again.lease.id, again.lease.generation, again.lease.attempt) == (first.lease.id, 0, 1)
    assert again.events == first.events


def test_the_clock_of_the_own_lease_starts_again_and_its_limit_is_ignored(log):
    log.append(5)
    reader = log.consumer()
    first = reader.pull(limit=3, visibility=60)
    again = reader.pull(limit=1, visibility=600)
    assert list(again.offsets) == [0, 1, 2]
    assert (again.expires_at - first.expires_at).total_seconds() > 500


def test_the_own_lease_comes_before_what_waits_for_redelivery_and_when_the_window_is_full(log):
    log.append(5)
    reader = log.consumer(window_size=2)
    failed, own = reader.pull("w1", limit=1), reader.pull("w2", limit=1)
    reader.fail(failed)
    assert reader.pull("w2").id == own.id
    assert reader.pull("w3").id == failed.id
    assert reader.pull("w2").id == own.id


def test_pulls_without_a_worker_are_one_worker(log):
    log.append(5)
    reader = log.consumer()
    assert reader.pull("", limit=1).id == reader.pull("", limit=1).id


def test_every_hand_out_is_counted_repeats_too(log):
    log.append()
    reader = log.consumer()
    lease = reader.pull()
    reader.pull()
    reader.run_out(lease.id)
    reader.pull()
    assert sql("SELECT handouts, attempt FROM lease WHERE id = %s", lease.id) == [(3, 2)]


def test_a_worker_that_revived_an_older_lease_keeps_the_one_it_was_given_last(log):
    log.append(4)
    reader = log.consumer()
    old = reader.pull("w1", limit=1)
    other = reader.pull("w2", limit=1)
    reader.run_out(old.id, 1)
    reader.run_out(other.id, 5)
    assert reader.pull("w1").id == other.id
    extend(reader.topic_id, reader.number, old.id, 0, 60)
    assert reader.pull("w1").id == other.id
    reader.ok(reader.pull("w1"))
    assert reader.pull("w1").id == old.id


# The log behind a seam


def test_a_page_that_does_not_start_at_the_position_is_refused_not_skipped(log):
    log.append(5)
    reader = log.consumer()
    sql('DELETE FROM event WHERE topic_id = %s AND "offset" < 2', log.topic.id)
    with pytest.raises(Unavailable):
        reader.pull()
    assert reader.unsettled() == 0


def test_it_stops_before_a_hole(log):
    log.append(5)
    reader = log.consumer()
    sql('DELETE FROM event WHERE topic_id = %s AND "offset" = 3', log.topic.id)
    assert seen(reader) == [0, 1, 2]


def test_what_retention_took_is_told_once_with_the_next_batch(log):
    log.append(5)
    reader = log.consumer(start=[(0, 3)])
    sql("UPDATE cursor SET skipped_from = 0, skipped_to = 3 WHERE consumer_id = %s", reader.number)
    sql("UPDATE consumer SET has_skipped = true WHERE id = %s", reader.number)
    assert reader.batch(limit=1).skipped == [(0, 0, 3)]
    assert reader.batch(limit=1).skipped == []
