import json

import pytest

from apps.cursors import operations as cursors
from apps.leases.errors import DestinationPaused, WindowFull
from apps.leases.operations import pull as handing_out
from apps.leases.operations.acknowledge import extend
from apps.leases.operations.pull import Nothing
from core.errors import NotFound, Unavailable
from tests.logs import Log, sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def log():
    return Log.make()


def seen(reader, worker="w1", **how):
    """The offsets of the next lease, or None."""
    lease = reader.pull(worker, **how)
    return None if isinstance(lease, Nothing) else list(lease.offsets)


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
    lease = log.consumer().pull(visibility=30)
    [(left,)] = sql("SELECT extract(epoch FROM %s - statement_timestamp())", lease.expires_at)
    assert 29 < left <= 30


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
    first = reader.pull(limit=3, visibility=10)
    again = reader.pull(limit=1, visibility=600)
    assert list(again.offsets) == [0, 1, 2]
    assert (again.expires_at - first.expires_at).total_seconds() > 580


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
    [(soon,)] = sql("SELECT statement_timestamp() + interval '30 seconds'")
    cursors.pause(reader.topic_id, reader.number, by="ana", resume_at=soon)
    with pytest.raises(DestinationPaused) as paused:
        reader.pull()
    assert 25 < paused.value.retry_after <= 30
    sql("UPDATE consumer SET resume_at = statement_timestamp() WHERE id = %s", reader.number)
    assert seen(reader) == [0]


# Filter


@pytest.mark.parametrize(
    ("types", "taken"),
    [
        (["order.*"], [0, 1]),
        (["*.made"], [0, 2]),
        (["order.made", "cart.made"], [0, 2]),
        (["order_made"], None),
        (["ORDER.*"], None),
        (["*"], [0, 1, 2, 3]),
        (["100%*"], [3]),
    ],
)
def test_types_are_globs_in_which_only_the_star_is_special(log, types, taken):
    for kind in ("order.made", "order.paid", "cart.made", "100%_"):
        log.append(kind=kind)
    assert seen(log.consumer(types=types)) == taken


def test_prefixes_of_subject_and_source_are_literal_and_all_must_match(log):
    log.append(subject="eu%1", source="/shop/a")
    log.append(subject="eu_1", source="/shop/a")
    log.append(subject=None, source="/shop/a")
    log.append(subject="eu%2", source="/cart")
    assert seen(log.consumer(subject="eu%")) == [0, 3]
    assert seen(log.consumer(subject="eu%", source="/shop")) == [0]
    assert seen(log.consumer(types=["t"], subject="eu_")) == [1]


def test_a_filter_sees_a_record_as_the_cloud_event_it_is_given_as(log):
    log.append(2)
    sql('UPDATE event SET kind = 0, type = NULL, source = NULL, partition_key = \'eu-1\''
        ' WHERE topic_id = %s AND "offset" = 1', log.topic.id)  # fmt: skip
    assert seen(log.consumer(types=["towpath.*"])) == [1]
    assert seen(log.consumer(subject="eu-")) == [1]
    assert seen(log.consumer(source=f"/v1/topics/{log.topic.name}")) == [1]


def test_a_filtered_out_event_never_holds_the_cursor_back(log):
    log.append(3, kind="noise")
    log.append(1, kind="signal")
    log.append(2, kind="noise")
    reader = log.consumer(types=["signal"])
    lease = reader.pull()
    assert reader.unsettled() == 3
    assert reader.ok(lease).committed == 5
    assert reader.unsettled() == 6


def test_a_long_scan_moves_on_over_slices_and_gives_up_in_time(log, monkeypatch):
    monkeypatch.setattr(handing_out, "SLICE", 10)
    log.append(95, kind="noise")
    log.append(1, kind="signal")
    reader = log.consumer(types=["signal"])
    monkeypatch.setattr(handing_out, "SCAN_SECONDS", 0)
    assert reader.pull() == Nothing(more=True)
    assert 0 < reader.unsettled() <= 10
    monkeypatch.setattr(handing_out, "SCAN_SECONDS", 5)
    assert seen(reader) == [95]


def test_changing_the_filter_leaves_leases_that_are_out_as_they_are(log):
    log.append(2, kind="a")
    log.append(2, kind="b")
    reader = log.consumer(types=["a"])
    lease = reader.pull()
    cursors.change(reader.topic_id, reader.number, chosen=cursors.Filter(types=["b"]))
    reader.run_out(lease.id)
    assert seen(reader, "w2") == [0, 1]


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
