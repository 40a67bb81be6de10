import uuid

import pytest

from apps.cursors import operations as cursors
from apps.leases.errors import WindowFull
from apps.leases.operations import tidy
from apps.leases.operations.acknowledge import Failure, acknowledge, extend
from core.errors import InvalidField, LeaseLost, NotFound
from tests.logs import Log, sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def log():
    log = Log.make()
    log.append(10)
    return log


def told(outcome):
    return outcome.status, outcome.committed


def waits(reader, lease):
    [(seconds,)] = sql(
        "SELECT extract(epoch FROM visible_at - statement_timestamp())::float8 FROM lease WHERE id = %s", lease.id
    )
    return seconds


# Committed


def test_the_committed_cursor_only_advances_over_a_contiguous_run(log):
    reader = log.consumer()
    first, second, third = (reader.pull(f"w{n}", limit=2) for n in range(3))
    assert told(reader.ok(third)) == ("committed", None)
    assert told(reader.ok(first)) == ("committed", 1)
    assert told(reader.ok(second)) == ("committed", 5)


def test_committed_is_null_only_when_nothing_before_is_settled_at_offset_0(log):
    reader = log.consumer(start=[(0, 4)])
    first, second = reader.pull("w1", limit=1), reader.pull("w2", limit=1)
    assert told(reader.ok(second)) == ("committed", 3)
    assert told(reader.ok(first)) == ("committed", 5)


def test_committed_is_of_the_partition_of_the_batch():
    log = Log.make(partitions=2)
    log.append(3, partition=0)
    log.append(3, partition=1)
    reader = log.consumer()
    first, second = reader.pull("w1"), reader.pull("w2")
    assert told(reader.ok(second)) == ("committed", 2)
    assert (reader.unsettled(first.partition), reader.unsettled(second.partition)) == (0, 3)


# One outcome for each generation


def test_the_same_call_again_gives_the_same_answer_with_committed_as_of_now(log):
    reader = log.consumer()
    first, second = reader.pull("w1", limit=2), reader.pull("w2", limit=2)
    assert told(reader.ok(second)) == ("committed", None)
    reader.ok(first)
    assert told(reader.ok(second)) == ("committed", 3)


def test_the_contrary_of_what_was_said_is_stale(log):
    reader = log.consumer()
    done, failed = reader.pull("w1", limit=1), reader.pull("w2", limit=1)
    reader.ok(done)
    assert reader.fail(done).status == "stale"
    reader.fail(failed)
    assert reader.ok(failed).status == "stale"
    assert reader.fail(failed).status == "requeued"


def test_any_call_is_stale_once_the_lease_has_been_handed_out_again(log):
    reader = log.consumer()
    lease = reader.pull("w1", limit=2)
    reader.fail(lease)
    again = reader.pull("w2", limit=2)
    assert (reader.ok(lease).status, reader.fail(lease).status) == ("stale", "stale")
    assert told(reader.ok(again)) == ("committed", 1)
    assert (reader.ok(lease).status, reader.fail(lease).status) == ("stale", "stale")


def test_a_late_acknowledgement_commits_nothing_and_leaves_the_other_workers_lease_alone(log):
    reader = log.consumer()
    late = reader.pull("w1", limit=2)
    reader.run_out(late.id)
    other = reader.pull("w2", limit=2)
    assert told(reader.ok(late)) == ("stale", None)
    assert told(reader.ok(other)) == ("committed", 1)


def test_an_expired_lease_that_nobody_else_has_yet_still_commits(log):
    reader = log.consumer()
    lease = reader.pull(limit=2)
    reader.run_out(lease.id, 1000)
    assert told(reader.ok(lease)) == ("committed", 1)


def test_it_still_commits_after_the_sweep_has_noted_the_expiry(log):
    reader = log.consumer()
    lease, other = reader.pull("w1", limit=2), reader.pull("w2", limit=1)
    reader.run_out(lease.id)
    reader.run_out(other.id)
    assert tidy.expire_leases() == 2
    assert told(reader.ok(lease)) == ("committed", 1)
    assert reader.fail(other).status == "requeued"


def test_a_generation_from_the_future_is_stale(log):
    reader = log.consumer()
    lease = reader.pull()
    assert acknowledge(reader.topic_id, reader.number, lease.id, 1).status == "stale"
    assert reader.ok(lease).status == "committed"


def test_an_unknown_lease_is_not_found_also_that_of_another_consumer(log):
    reader, other = log.consumer(), log.consumer()
    lease = other.pull()
    for unknown in (uuid.uuid4(), lease.id):
        with pytest.raises(NotFound):
            acknowledge(reader.topic_id, reader.number, unknown, 0)


def test_a_settled_lease_is_remembered_for_two_days(log):
    reader = log.consumer()
    lease = reader.pull()
    reader.ok(lease)
    sql("UPDATE settled SET at = at - interval '47 hours' WHERE id = %s", lease.id)
    assert reader.ok(lease).status == "committed"
    sql("UPDATE settled SET at = at - interval '2 hours' WHERE id = %s", lease.id)
    with pytest.raises(NotFound):
        reader.ok(lease)


def test_acknowledging_works_after_forty_silent_days(log):
    """No partition was made since: the rows go into the default one."""
    reader = log.consumer()
    first, second = reader.pull("w1", limit=1), reader.pull("w2", limit=1)
    for (name,) in sql("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'settled'::regclass"):
        if name != "settled_default":
            sql(f"DROP TABLE {name}")
    reader.run_out(first.id, 40 * 86_400)
    assert told(reader.ok(first)) == ("committed", 0)
    assert told(reader.ok(first)) == ("committed", 0)
    assert reader.fail(second).status == "requeued"


def test_it_works_while_paused(log):
    reader = log.consumer()
    done, failed = reader.pull("w1", limit=1), reader.pull("w2", limit=1)
    cursors.pause(reader.topic_id, reader.number, by="ana")
    assert reader.ok(done).status == "committed"
    assert reader.fail(failed).status == "requeued"


def test_acknowledging_frees_the_window_once(log):
    reader = log.consumer(window_size=2)
    lease = reader.pull("w1", limit=2)
    for _ in range(3):
        reader.ok(lease)
    reader.pull("w2", limit=2)
    with pytest.raises(WindowFull) as full:
        reader.pull("w3")
    assert full.value.details["leased"] == 2


# Failed


def test_failed_is_redelivered_at_once_with_the_error_kept(log):
    reader = log.consumer()
    lease = reader.pull(limit=2)
    assert told(reader.fail(lease, error="bad\x00" + "x" * 3000)) == ("requeued", None)
    [(error,)] = sql("SELECT error FROM lease WHERE id = %s", lease.id)
    assert error == "bad\ufffd" + "x" * 1996
    again = reader.pull(limit=2)
    assert (again.id, again.generation, again.attempt) == (lease.id, 1, 2)


def test_a_delay_is_counted_from_now(log):
    reader = log.consumer(retry_backoff=True)
    lease = reader.pull()
    reader.fail(lease, delay=2_592_000)
    assert waits(reader, lease) == pytest.approx(2_592_000, abs=100)


def test_backoff_doubles_from_a_second_to_a_minute_with_jitter(log):
    reader = log.consumer(retry_backoff=True)
    lease = reader.pull()
    for attempt, longest in [(1, 1), (2, 2), (5, 16), (7, 60), (100, 60)]:
        sql("UPDATE lease SET attempt = %s, state = 'leased', generation = %s WHERE id = %s", attempt, attempt, lease.id)
        [(before,)] = sql("SELECT clock_timestamp()")
        acknowledge(reader.topic_id, reader.number, lease.id, attempt, Failure())
        assert waits(reader, lease) <= longest
        [(waited,)] = sql("SELECT extract(epoch FROM visible_at - %s) FROM lease WHERE id = %s", before, lease.id)
        assert waited >= longest / 2


def test_a_delay_of_nothing_beats_the_backoff(log):
    reader = log.consumer(retry_backoff=True)
    lease = reader.pull()
    reader.fail(lease, delay=0)
    assert waits(reader, lease) <= 0


def test_failed_sequences_alone_are_redelivered_under_the_same_lease(log):
    reader = log.consumer()
    lease = reader.pull(limit=6)
    assert told(reader.fail(lease, positions=[(0, 4), (0, 2), (0, 2)])) == ("requeued", 1)
    again = reader.pull("w2", limit=20)
    assert (again.id, list(again.offsets), again.generation, again.attempt) == (lease.id, [2, 4], 1, 2)
    assert told(reader.fail(again, positions=[(0, 4)])) == ("requeued", 3)
    assert told(reader.ok(reader.pull("w3"))) == ("committed", 5)


def test_failed_sequences_of_a_picked_batch():
    log = Log.make()
    for _ in range(4):
        log.append(1, kind="a")
        log.append(1, kind="b")
    reader = log.consumer(types=["a"])
    lease = reader.pull()
    assert told(reader.fail(lease, positions=[(0, 2), (0, 6)])) == ("requeued", 1)
    assert list(reader.pull().offsets) == [2, 6]


@pytest.mark.parametrize("positions", [[(0, 9)], [(1, 2)], [(0, 2), (1, 2)], [(0, 2), (0, 9)], [], [(0, -1)]])
def test_sequences_that_are_not_in_the_lease_are_refused_and_change_nothing(log, positions):
    reader = log.consumer()
    lease = reader.pull(limit=5)
    with pytest.raises(InvalidField) as refused:
        reader.fail(lease, positions=positions)
    assert refused.value.details["field"] == "failedSequences"
    assert reader.ok(lease).status == "committed"


def test_sequences_a_filter_left_out_are_not_in_the_lease():
    log = Log.make()
    for kind in "aba":
        log.append(kind=kind)
    reader = log.consumer(types=["a"])
    with pytest.raises(InvalidField):
        reader.fail(reader.pull(), positions=[(0, 1)])


# Extend


def test_extend_sets_the_end_to_now_plus_visibility_also_sooner(log):
    reader = log.consumer()
    lease = reader.pull(visibility=60)
    until = extend(reader.topic_id, reader.number, lease.id, 0, 600)
    assert (until - lease.expires_at).total_seconds() > 500
    assert (extend(reader.topic_id, reader.number, lease.id, 0, 5) - lease.expires_at).total_seconds() < 0


def test_extend_revives_an_expired_lease_that_nobody_has_yet(log):
    reader = log.consumer()
    lease = reader.pull("w1", limit=2)
    reader.run_out(lease.id)
    tidy.expire_leases()
    extend(reader.topic_id, reader.number, lease.id, 0, 60)
    assert list(reader.pull("w2", limit=1).offsets) == [2]
    assert reader.pull("w1").id == lease.id


def test_extend_after_the_generation_is_over_says_lease_lost(log):
    reader = log.consumer()
    done, failed, taken = (reader.pull(f"w{n}", limit=1) for n in range(3))
    reader.ok(done)
    reader.run_out(taken.id)
    assert reader.pull("w9", limit=1).id == taken.id
    reader.fail(failed)
    for lost in (done.id, failed.id, taken.id, uuid.uuid4()):
        with pytest.raises(LeaseLost):
            extend(reader.topic_id, reader.number, lost, 0, 60)


def test_extend_works_while_paused(log):
    reader = log.consumer()
    lease = reader.pull()
    cursors.pause(reader.topic_id, reader.number, by="ana")
    assert extend(reader.topic_id, reader.number, lease.id, 0, 600) > lease.expires_at


# Operators and the sweep


def test_after_an_operator_expired_the_lease_the_workers_acknowledgement_is_stale(log):
    reader = log.consumer()
    lease = reader.pull("w1", limit=2)
    tidy.expire(reader.topic_id, reader.number, lease.id)
    assert reader.ok(lease).status == "stale"
    assert reader.fail(lease).status == "stale"
    with pytest.raises(LeaseLost):
        extend(reader.topic_id, reader.number, lease.id, 0, 60)
    again = reader.pull("w2", limit=2)
    assert (again.id, again.generation, again.attempt) == (lease.id, 1, 2)


def test_an_operator_may_end_a_delay_and_the_answer_of_that_generation_stays(log):
    reader = log.consumer()
    lease = reader.pull(limit=2)
    reader.fail(lease, delay=1000)
    tidy.expire(reader.topic_id, reader.number, lease.id)
    assert reader.fail(lease).status == "requeued"
    assert reader.pull().id == lease.id


def test_expiring_a_lease_that_is_settled_is_not_found(log):
    reader = log.consumer()
    lease = reader.pull()
    reader.ok(lease)
    with pytest.raises(NotFound):
        tidy.expire(reader.topic_id, reader.number, lease.id)


def test_an_operator_extends_whatever_the_generation(log):
    reader = log.consumer()
    lease = reader.pull("w1")
    reader.run_out(lease.id)
    reader.pull("w2")
    assert extend(reader.topic_id, reader.number, lease.id, None, 600) > lease.expires_at


def test_two_sweeps_note_an_expiry_once(log):
    reader = log.consumer()
    lease = reader.pull()
    reader.run_out(lease.id)
    assert (tidy.expire_leases(), tidy.expire_leases()) == (1, 0)
    again = reader.pull()
    reader.run_out(again.id)
    assert tidy.expire_leases() == 1


def test_deleting_a_consumer_ends_its_leases_and_a_late_acknowledgement_gets_an_answer(log):
    reader = log.consumer()
    lease = reader.pull()
    tidy.delete_consumer(reader.topic_id, reader.number)
    assert sql("SELECT outcome FROM settled WHERE id = %s", lease.id) == [("superseded",)]
    with pytest.raises(NotFound):
        reader.ok(lease)
    assert sql("SELECT count(*) FROM cursor WHERE consumer_id = %s", reader.number) == [(0,)]
    with pytest.raises(NotFound):
        reader.pull()
