import uuid

import pytest

from apps.cursors import operations as cursors
from apps.leases.errors import AlreadyRedriven
from apps.leases.models import DeadLetter
from apps.leases.operations import dead_letters, tidy
from apps.leases.operations.acknowledge import Failure, acknowledge
from apps.leases.operations.park import fingerprint, park_by_hand, park_spent
from apps.leases.operations.pull import Nothing
from core.errors import InvalidField, NotFound
from tests.logs import Log, sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def log():
    log = Log.make()
    log.append(10)
    return log


def letters(reader):
    return list(DeadLetter.objects.filter(topic_id=reader.topic_id, consumer_id=reader.number).order_by("offset"))


def told(outcome):
    return outcome.status, outcome.committed


def test_failing_at_the_last_allowed_hand_out_parks_each_event_with_its_body(log):
    reader = log.consumer(max_deliveries=2)
    assert told(reader.fail(reader.pull(limit=3))) == ("requeued", None)
    again = reader.pull(limit=3)
    assert told(reader.fail(again, error="no such account 17")) == ("parked", 2)
    assert [letter.offset for letter in letters(reader)] == [0, 1, 2]
    assert letters(reader)[1].body == '{"id":"id-1","sequence":"000.00000000000000000001"}'
    assert {(letter.handouts, letter.error, letter.lease_id) for letter in letters(reader)} == {
        (2, "no such account 17", again.id)
    }


def test_the_same_failure_again_is_parked_again_and_the_contrary_is_stale(log):
    reader = log.consumer(max_deliveries=1)
    lease = reader.pull(limit=3)
    assert [told(reader.fail(lease)) for _ in range(2)] == [("parked", 2)] * 2
    assert told(reader.ok(lease)) == ("stale", 2)
    assert len(letters(reader)) == 3


def test_only_the_named_events_are_parked_and_the_rest_is_settled(log):
    reader = log.consumer(max_deliveries=1)
    lease = reader.pull(limit=5)
    assert told(reader.fail(lease, positions=[(0, 1), (0, 3)])) == ("parked", 4)
    assert [letter.offset for letter in letters(reader)] == [1, 3]


@pytest.mark.parametrize("foreign", [[(0, 7)], [(1, 1)], [(0, 1), (0, 9)], []])
def test_events_of_another_lease_cannot_be_parked(log, foreign):
    reader = log.consumer(max_deliveries=1)
    lease = reader.pull(limit=5)
    if foreign:
        with pytest.raises(InvalidField):
            reader.fail(lease, positions=foreign)
    assert told(reader.ok(lease)) == ("committed", 4)


def test_repeats_of_an_unexpired_lease_count_so_that_a_crashing_worker_does_not_loop_for_ever(log):
    reader = log.consumer(max_deliveries=3)
    handed = [reader.pull("w1", limit=2) for _ in range(3)]
    assert {lease.id for lease in handed} == {handed[0].id}
    following = reader.pull("w1", limit=2)
    assert list(following.offsets) == [2, 3]
    assert [letter.offset for letter in letters(reader)] == [0, 1]
    assert told(reader.ok(handed[-1])) == ("stale", 1)


def test_a_lease_that_runs_out_at_its_last_hand_out_is_parked_by_the_next_pull(log):
    reader = log.consumer(max_deliveries=1)
    lease = reader.pull("w1", limit=4)
    reader.run_out(lease.id)
    assert list(reader.pull("w2", limit=4).offsets) == [4, 5, 6, 7]
    assert [letter.error for letter in letters(reader)] == ["Not acknowledged in time."] * 4


def test_the_sweep_parks_it_too_when_nobody_pulls_but_not_one_that_is_held(log):
    reader = log.consumer(max_deliveries=1)
    over, held = reader.pull("w1", limit=4), reader.pull("w2", limit=4)
    reader.run_out(over.id)
    assert park_spent() == 1
    assert reader.unsettled() == 4
    assert told(reader.ok(held)) == ("committed", 7)


def test_without_max_deliveries_nothing_is_ever_parked(log):
    reader = log.consumer()
    for _ in range(20):
        assert reader.fail(reader.pull(limit=10)).status == "requeued"
    assert letters(reader) == []


def test_an_operator_parks_a_lease_and_the_workers_acknowledgement_is_stale(log):
    reader = log.consumer()
    lease = reader.pull(limit=4)
    parked = park_by_hand(reader.topic_id, reader.number, lease.id, "poison")
    assert (parked.letters, parked.unsettled) == (4, 4)
    assert told(reader.ok(lease)) == ("stale", 3)
    assert told(reader.fail(lease)) == ("stale", 3)
    assert letters(reader)[0].error == "Parked by an operator: poison"
    with pytest.raises(NotFound):
        park_by_hand(reader.topic_id, reader.number, lease.id, None)


def test_an_operator_parks_one_that_waits_for_its_retry(log):
    reader = log.consumer()
    lease = reader.pull(limit=4)
    reader.fail(lease, delay=3_600)
    assert park_by_hand(reader.topic_id, reader.number, lease.id, None).letters == 4
    assert reader.unsettled() == 4


# Redrive


def parked(log, count=1, **limits):
    reader = log.consumer(max_deliveries=1, **limits)
    reader.fail(reader.pull(limit=count), error="boom")
    return reader, letters(reader)[0]


def test_a_redriven_event_comes_as_its_first_attempt_before_new_work_and_outside_committed(log):
    reader, letter = parked(log)
    committed = reader.unsettled()
    dead_letters.redrive(reader.topic_id, reader.number, letter.id)
    batch = reader.batch("w2")
    assert (batch.lease.attempt, batch.events, list(batch.lease.offsets)) == (1, [letter.body], [0])
    assert reader.unsettled() == committed == 1
    assert told(reader.ok(batch.lease)) == ("committed", 0)
    assert reader.pull("w2").first_offset == 1


def test_it_is_handed_out_from_the_copy_when_the_original_is_gone(log):
    reader, letter = parked(log)
    sql("DELETE FROM event WHERE topic_id = %s", reader.topic_id)
    dead_letters.redrive(reader.topic_id, reader.number, letter.id)
    assert reader.batch().events == [letter.body]


def test_redriving_twice_gives_one_copy_and_discarding_what_is_out_is_refused(log):
    reader, letter = parked(log)
    dead_letters.redrive(reader.topic_id, reader.number, letter.id)
    for change in (dead_letters.redrive, dead_letters.discard):
        with pytest.raises(AlreadyRedriven):
            change(reader.topic_id, reader.number, letter.id)
    assert sql("SELECT count(*) FROM lease WHERE topic_id = %s AND redriven", reader.topic_id) == [(1,)]


def test_an_event_that_dies_again_is_the_same_letter_with_the_same_first_time(log):
    reader, letter = parked(log)
    dead_letters.redrive(reader.topic_id, reader.number, letter.id)
    assert reader.fail(reader.pull(), error="boom again").status == "parked"
    [again] = letters(reader)
    assert (again.id, again.state, again.deaths, again.handouts, again.error) == (letter.id, "dead", 2, 2, "boom again")
    assert again.first_at == letter.first_at and again.last_at >= letter.last_at
    dead_letters.redrive(reader.topic_id, reader.number, letter.id)
    assert reader.batch().events == [letter.body]


def test_discarded_is_gone_and_unknown_is_not_found(log):
    reader, letter = parked(log)
    dead_letters.discard(reader.topic_id, reader.number, letter.id)
    assert letters(reader) == []
    for change in (dead_letters.redrive, dead_letters.discard):
        for key in (letter.id, uuid.uuid4()):
            with pytest.raises(NotFound):
                change(reader.topic_id, reader.number, key)


def test_parking_frees_the_partition_of_a_consumer_in_order(log):
    reader, _ = parked(log, ordering="partition")
    assert list(reader.pull(limit=2).offsets) == [1, 2]
    assert isinstance(reader.pull("w2"), Nothing)


def test_redriven_letters_are_forgotten_a_week_after_they_are_settled(log):
    reader, letter = parked(log)
    dead_letters.redrive(reader.topic_id, reader.number, letter.id)
    sql("UPDATE dead_letter SET redriven_at = redriven_at - interval '8 days' WHERE topic_id = %s", reader.topic_id)
    assert dead_letters.forget_redriven() == 0
    reader.ok(reader.pull())
    assert dead_letters.forget_redriven() == 1


def test_a_deleted_consumer_takes_its_dead_letters_along(log):
    reader, _ = parked(log)
    tidy.delete_consumer(reader.topic_id, reader.number)
    assert letters(reader) == []


def test_lowering_max_deliveries_parks_what_was_handed_out_more_often(log):
    reader = log.consumer()
    for _ in range(3):
        lease = reader.pull(limit=2)
        reader.fail(lease)
    cursors.change(reader.topic_id, reader.number, max_deliveries=2)
    assert list(reader.pull(limit=2).offsets) == [2, 3]
    assert len(letters(reader)) == 2
    assert acknowledge(reader.topic_id, reader.number, lease.id, lease.generation, Failure()).status == "requeued"


def test_errors_that_differ_in_numbers_only_have_one_fingerprint():
    one, other = (f"timeout after {seconds} s for order {uuid.uuid4()}\ntraceback" for seconds in (5, 17))
    assert fingerprint(one) == fingerprint(other) != fingerprint("refused")
