import threading
import time
from collections import Counter

import pytest

from apps.cursors import operations as cursors
from apps.leases.errors import DestinationPaused, WindowFull
from apps.leases.operations import tidy
from apps.leases.operations.acknowledge import extend
from apps.leases.operations.pull import Lease
from tests.concurrency.sessions import at_once, in_background, session, waiting_for_a_lock
from tests.logs import Log, sql
from tests.patience import until

pytestmark = pytest.mark.django_db(transaction=True)

LOCK_LEASE = "SELECT id FROM lease WHERE id = %s FOR UPDATE"


@pytest.fixture
def log():
    log = Log.make()
    log.append(100)
    return log


def test_two_pulls_at_once_by_two_workers_share_nothing(log):
    reader = log.consumer(window_size=40)
    leases = at_once(*(lambda n=n: reader.pull(f"w{n}", limit=10) for n in range(6)))
    got = [lease for lease in leases if isinstance(lease, Lease)]
    offsets = Counter(offset for lease in got for offset in lease.offsets)
    assert len(got) == 4
    assert max(offsets.values()) == 1
    assert sorted(offsets) == list(range(40))
    assert [type(lease) for lease in leases if not isinstance(lease, Lease)] == [WindowFull, WindowFull]


@pytest.mark.parametrize("worker", ["w1", ""])
def test_two_pulls_at_once_by_one_worker_or_by_nobody_in_particular_get_the_same_batch(log, worker):
    reader = log.consumer()
    first, second = at_once(*[lambda: reader.pull(worker, limit=5)] * 2)
    assert (first.id, first.offsets) == (second.id, second.offsets)


def test_two_pulls_at_once_redeliver_one_expired_lease_once(log):
    reader = log.consumer()
    lease = reader.pull("w0", limit=5)
    reader.run_out(lease.id)
    first, second = at_once(lambda: reader.pull("w1", limit=5), lambda: reader.pull("w2", limit=5))
    assert sorted([(first.origin, first.first_offset), (second.origin, second.first_offset)]) == [
        ("new", 5),
        ("redelivery", 0),
    ]


def test_two_acknowledgements_at_once_that_complete_the_run_bring_committed_to_the_end(log):
    reader = log.consumer()
    for round_ in range(10):
        leases = [reader.pull(f"w{n}", limit=2) for n in range(4)]
        outcomes = at_once(*(lambda lease=lease: reader.ok(lease) for lease in leases))
        assert {outcome.status for outcome in outcomes} == {"committed"}
        end = 8 * (round_ + 1)
        assert reader.unsettled() == end
        assert all((outcome.committed or 0) < end for outcome in outcomes)


def test_twenty_identical_acknowledgements_all_get_the_same_answer_and_settle_once(log):
    reader = log.consumer()
    done, failed = reader.pull("w1", limit=2), reader.pull("w2", limit=2)
    assert {o.status for o in at_once(*[lambda: reader.ok(done)] * 20)} == {"committed"}
    assert {o.status for o in at_once(*[lambda: reader.fail(failed)] * 20)} == {"requeued"}
    assert sql("SELECT outcome, count(*) FROM settled WHERE consumer_id = %s GROUP BY 1 ORDER BY 1", reader.number) == [
        ("failed", 1),
        ("ok", 1),
    ]


def test_ok_and_failed_at_once_have_one_winner(log):
    reader = log.consumer()
    for _ in range(10):
        lease = reader.pull(limit=2)
        ok, failed = at_once(lambda lease=lease: reader.ok(lease), lambda lease=lease: reader.fail(lease))
        assert sorted([ok.status, failed.status]) in (["committed", "stale"], ["requeued", "stale"])
        if failed.status == "requeued":
            reader.ok(reader.pull(limit=2))


def test_an_expired_lease_being_acknowledged_is_passed_over_by_a_pull_which_gives_new_work(log):
    reader = log.consumer()
    lease = reader.pull("w1", limit=5)
    reader.run_out(lease.id)
    with session() as acknowledging:
        acknowledging.execute("DELETE FROM lease WHERE id = %s", [lease.id])
        other = reader.pull("w2", limit=5)
        assert (other.origin, other.first_offset) == ("new", 5)


def test_an_acknowledgement_that_waited_for_a_redelivery_is_stale(log):
    reader = log.consumer()
    lease = reader.pull("w1", limit=5)
    reader.run_out(lease.id)
    with session() as pulling:
        pulling.execute("UPDATE lease SET generation = 1, attempt = 2, worker = 'w2', state = 'leased',"
                        " visible_at = statement_timestamp() + interval '1 minute' WHERE id = %s", [lease.id])  # fmt: skip
        with in_background(lambda: reader.ok(lease)) as late:
            until(waiting_for_a_lock)
            pulling.commit()
        assert late.result().status == "stale"
    assert reader.pull("w2").generation == 1


def test_an_acknowledgement_that_waited_for_the_sweep_commits(log):
    reader = log.consumer()
    lease = reader.pull("w1", limit=5)
    reader.run_out(lease.id)
    with session() as sweeping:
        sweeping.execute("UPDATE lease SET state = 'expired' WHERE id = %s", [lease.id])
        with in_background(lambda: reader.ok(lease)) as late:
            until(waiting_for_a_lock)
            sweeping.commit()
        assert (late.result().status, late.result().committed) == ("committed", 4)


def test_the_sweep_passes_over_a_lease_in_use(log):
    reader = log.consumer()
    lease, other = reader.pull("w1", limit=1), reader.pull("w2", limit=1)
    reader.run_out(lease.id)
    reader.run_out(other.id)
    with session() as busy:
        busy.execute(LOCK_LEASE, [lease.id])
        assert tidy.expire_leases() == 1
    assert tidy.expire_leases() == 1


def test_a_pull_waits_for_the_workers_own_extend_in_flight_and_gives_no_second_lease(log):
    reader = log.consumer()
    lease = reader.pull("w1", limit=5)
    reader.run_out(lease.id)
    with session() as extending:
        extending.execute(
            "UPDATE lease SET visible_at = statement_timestamp() + interval '1 minute' WHERE id = %s", [lease.id]
        )
        with in_background(lambda: reader.pull("w1", limit=5)) as again:
            until(waiting_for_a_lock)
            extending.commit()
        assert (again.result().id, again.result().generation) == (lease.id, 0)


def test_nothing_is_handed_out_once_a_pause_has_been_answered(log):
    reader = log.consumer(window_size=10_000)
    stop, handed_late = threading.Event(), []
    paused_at = []

    def work(worker):
        while not stop.is_set():
            asked = time.monotonic()
            try:
                lease = reader.pull(worker, limit=1)
            except DestinationPaused:
                continue
            if paused_at and asked > paused_at[0] and isinstance(lease, Lease):
                handed_late.append(lease)
            if isinstance(lease, Lease):
                reader.fail(lease)

    def pause():
        until(lambda: sql("SELECT count(*) FROM settled WHERE consumer_id = %s", reader.number)[0][0] > 5)
        cursors.pause(reader.topic_id, reader.number, by="ana")
        paused_at.append(time.monotonic())
        until(lambda: time.monotonic() > paused_at[0] + 0.1)
        stop.set()

    assert at_once(lambda: work("w1"), lambda: work("w2"), pause) == [None] * 3
    assert paused_at and handed_late == []


def test_a_pull_that_waited_for_a_pause_obeys_it(log):
    reader = log.consumer()
    with session() as pausing:
        pausing.execute("UPDATE consumer SET paused_at = statement_timestamp() WHERE id = %s", [reader.number])
        with in_background(reader.pull) as pull:
            until(waiting_for_a_lock)
            pausing.commit()
        assert isinstance(pull.exception(), DestinationPaused)


def test_a_pull_that_waited_for_a_deletion_is_not_found(log):
    reader = log.consumer()
    results = at_once(lambda: tidy.delete_consumer(reader.topic_id, reader.number), lambda: reader.pull("w1"))
    assert results[0] is None
    assert sql("SELECT count(*) FROM lease WHERE consumer_id = %s", reader.number) == [(0,)]


def test_extend_against_a_redelivery_has_one_winner(log):
    reader = log.consumer()
    for _ in range(10):
        lease = reader.pull("w1", limit=1)
        reader.run_out(lease.id)
        extended, pulled = at_once(
            lambda lease=lease: extend(reader.topic_id, reader.number, lease.id, 0, 60), lambda: reader.pull("w2", limit=1)
        )
        was_extended = not isinstance(extended, Exception)
        assert was_extended == (pulled.id != lease.id)
        reader.ok(pulled)
        reader.ok(lease)


def test_an_old_snapshot_held_open_changes_no_answer(log):
    reader = log.consumer()
    with session() as report:
        report.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        report.execute("SELECT count(*) FROM lease")
        for end in range(5, 101, 5):
            assert reader.ok(reader.pull(limit=5)).committed == end - 1
    assert reader.unsettled() == 100


def test_workers_that_crash_fail_and_come_late_lose_nothing_and_commit_nothing_twice(log):
    """Conservation: every offset is settled exactly once by an accepted acknowledgement, and committed never goes back."""
    log.append(400)
    reader = log.consumer(window_size=60)
    settled: Counter[int] = Counter()
    floors: list[int] = []

    def work(worker, every):
        turn = 0
        while reader.unsettled() < 500:
            turn += 1
            try:
                lease = reader.pull(worker, limit=1 + turn % 7)
            except WindowFull:
                sql("UPDATE lease SET visible_at = statement_timestamp() WHERE worker = %s", worker)
                continue
            if not isinstance(lease, Lease):
                continue
            if turn % every == 0:
                reader.run_out(lease.id, 0)
                continue
            if turn % every == 1:
                reader.fail(lease, positions=[(0, lease.offsets[-1])])
                settled.update(list(lease.offsets)[:-1])
                continue
            if reader.ok(lease).status == "committed":
                settled.update(lease.offsets)

    def watch():
        while not floors or floors[-1] < 500:
            floors.append(reader.unsettled())

    results = at_once(watch, *(lambda n=n: work(f"w{n}", 3 + n) for n in range(4)))
    assert results == [None] * 5
    assert floors == sorted(floors)
    assert sorted(settled) == list(range(500))
    assert set(settled.values()) == {1}
