"""What comes again: when, to whom, in which parts, and what the order of a partition holds back meanwhile."""

import pytest

from tests.logs import Log, seen, sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def log():
    return Log.make()


# Redelivery


def test_an_expired_lease_is_redelivered_with_its_id_and_a_higher_generation_and_attempt(log):
    log.append(2)
    reader = log.consumer()
    lease = reader.pull("w1")
    reader.run_out(lease.id)
    again = reader.pull("w2")
    assert (again.origin, again.id, again.generation, again.attempt) == ("redelivery", lease.id, 1, 2)
    assert list(again.offsets) == [0, 1]


def test_an_expired_lease_is_a_redelivery_also_for_the_worker_that_had_it(log):
    log.append()
    reader = log.consumer()
    lease = reader.pull("w1")
    reader.run_out(lease.id)
    assert (reader.pull("w1").generation, reader.pull("w1").attempt) == (1, 2)


def test_it_redelivers_expired_and_failed_leases_before_new_work(log):
    log.append(4)
    reader = log.consumer()
    expired, failed = reader.pull("w1", limit=1), reader.pull("w2", limit=1)
    reader.fail(failed)
    reader.run_out(expired.id, 0)
    assert {reader.pull("w3", limit=1).id, reader.pull("w4", limit=1).id} == {expired.id, failed.id}
    assert seen(reader, "w5", limit=1) == [2]


def test_the_longest_redeliverable_is_first_and_ties_go_by_offset(log):
    log.append(4)
    reader = log.consumer()
    leases = [reader.pull(f"w{n}", limit=1) for n in range(4)]
    for lease, ago in zip(leases, (5, 9, 9, 1), strict=True):
        reader.run_out(lease.id, ago)
    sql("UPDATE lease SET visible_at = (SELECT min(visible_at) FROM lease WHERE consumer_id = %s) WHERE id IN (%s, %s)",
        reader.number, leases[1].id, leases[2].id)  # fmt: skip
    assert [reader.pull(f"x{n}").first_offset for n in range(4)] == [1, 2, 0, 3]


def test_a_redelivery_longer_than_the_limit_is_split_and_the_rest_waits_with_the_same_generation_and_attempt(log):
    log.append(5)
    reader = log.consumer()
    lease = reader.pull(limit=5)
    reader.run_out(lease.id, 10)
    head = reader.pull("w2", limit=2)
    assert (head.id, list(head.offsets), head.generation, head.attempt) == (lease.id, [0, 1], 1, 2)
    rest = sql("SELECT state, generation, attempt, events FROM lease WHERE consumer_id = %s AND id <> %s",
               reader.number, lease.id)  # fmt: skip
    assert rest == [("waiting", 0, 1, 3)]
    tail = reader.pull("w3", limit=5)
    assert tail.id != lease.id
    assert (list(tail.offsets), tail.generation, tail.attempt) == ([2, 3, 4], 1, 2)


def test_a_split_of_picked_events_keeps_exactly_them():
    log = Log.make()
    for _ in range(4):
        log.append(1, kind="a")
        log.append(2, kind="b")
    reader = log.consumer(types=["a"])
    lease = reader.pull()
    assert list(lease.offsets) == [0, 3, 6, 9]
    reader.run_out(lease.id)
    assert seen(reader, "w2", limit=2) == [0, 3]
    assert reader.unsettled() == 0
    assert seen(reader, "w3", limit=1) == [6]
    assert seen(reader, "w4", limit=1) == [9]


def test_a_delayed_retry_lets_newer_events_pass_until_it_is_due(log):
    log.append(2)
    reader = log.consumer()
    lease = reader.pull(limit=1)
    reader.fail(lease, delay=100)
    assert seen(reader, limit=1) == [1]
    reader.run_out(lease.id, 0)
    assert seen(reader, "w2", limit=1) == [0]


# Ordering


def test_ordering_by_partition_hands_out_nothing_new_of_a_partition_with_a_batch_out_or_waiting():
    log = Log.make(partitions=2)
    log.append(4, partition=0)
    log.append(2, partition=1)
    reader = log.consumer(ordering="partition")
    first = reader.pull("w1", limit=2)
    assert reader.pull("w2", limit=2).partition != first.partition
    assert seen(reader, "w3") is None
    reader.fail(first, delay=60)
    assert seen(reader, "w3") is None
    reader.run_out(first.id)
    again = reader.pull("w3")
    assert again.id == first.id
    reader.ok(again)
    assert seen(reader, "w3", limit=2) == [2, 3]


def test_ordering_by_partition_holds_the_rest_of_a_split_until_its_first_part_is_settled(log):
    log.append(4)
    reader = log.consumer(ordering="partition")
    lease = reader.pull("w1", limit=4)
    reader.run_out(lease.id)
    head = reader.pull("w2", limit=2)
    assert seen(reader, "w3") is None
    reader.ok(head)
    assert seen(reader, "w3") == [2, 3]


def test_ordering_by_partition_gives_work_of_other_partitions_while_the_rest_of_a_split_is_held():
    log = Log.make(partitions=2)
    log.append(4, partition=0)
    reader = log.consumer(ordering="partition")
    lease = reader.pull("w1", limit=4)
    reader.run_out(lease.id)
    assert seen(reader, "w2", limit=2) == [0, 1]
    log.append(1, partition=1)
    other = reader.pull("w3")
    assert (other.partition, other.origin) == (1, "new")
