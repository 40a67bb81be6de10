"""Races on one queue, each with a connection of its own and named steps."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest

from apps.queues import tasks
from apps.queues.operations import queues, sweep
from apps.queues.operations.claim import claim
from apps.queues.operations.enqueue import NewEvent, enqueue
from apps.queues.operations.firing import fire_schedules
from apps.queues.operations.settle import GivenBack, acknowledge, acknowledge_several, heartbeat, nack
from apps.queues.selectors import QueueRow, find_queue
from core.errors import LeaseLost, NotFound
from tests.concurrency.sessions import at_once, in_background, session, waiting_for_a_lock
from tests.patience import until
from tests.queues.conftest import execute

pytestmark = pytest.mark.django_db(transaction=True)

LOCK_EVENT = "SELECT id FROM queue_event WHERE id = %s FOR UPDATE"
EXPIRE = "UPDATE queue_event SET due_at = statement_timestamp() - interval '1 second' WHERE id = %s"


@pytest.fixture
def queue() -> QueueRow:
    queues.create(None, "races", max_attempts=3)
    return find_queue("races")


def put(queue: QueueRow, count: int, group: str | None = None, **fields) -> list[UUID]:
    events = [NewEvent(f'{{"n": {n}}}', group_key=group, **fields) for n in range(count)]
    return [event.id for event in enqueue(queue, events)]


def states() -> Counter:
    return Counter(row[0] for row in execute("SELECT state FROM queue_event"))


def test_two_claims_at_once_never_share_an_event(queue):
    put(queue, 40)
    found = at_once(*[lambda: claim(queue, limit=10)] * 6)
    taken = Counter(one.id for claims in found for one in claims)
    assert max(taken.values()) == 1
    # A claim passes over what another has just locked, and comes back with less; nothing stays behind.
    taken.update(one.id for one in claim(queue, limit=40))
    assert len(taken) == 40
    assert max(taken.values()) == 1


def test_two_claims_at_once_redeliver_an_expired_lease_once(queue):
    (event,) = put(queue, 1)
    late = claim(queue)[0]
    execute(EXPIRE, event)
    found = [one for claims in at_once(*[lambda: claim(queue)] * 4) for one in claims]
    found += claim(queue)
    assert [one.attempt_count for one in found] == [2]
    with pytest.raises(LeaseLost):
        acknowledge(event, late.token)


def test_a_claim_and_the_sweep_decide_an_exhausted_event_once(queue):
    (event,) = put(queue, 1, group="k")
    (follower,) = put(queue, 1, group="k")
    execute("UPDATE queue_event SET attempts = 2")
    claim(queue)
    execute(EXPIRE, event)
    results = at_once(lambda: claim(queue), lambda: sweep.park_exhausted(queue.id), lambda: claim(queue))
    assert not [result for result in results if isinstance(result, Exception)]
    found = [one for claims in (results[0], results[2], claim(queue)) for one in claims]
    assert [one.id for one in found] == [follower]
    assert states() == {"dead": 1, "leased": 1}


def test_a_claim_passes_over_what_an_acknowledgement_has_locked(queue):
    """Claim against expire: the lease has ended, and somebody has its row in hand."""
    first, second = put(queue, 2)
    claim(queue)
    execute(EXPIRE, first)
    with session() as other:
        other.execute(LOCK_EVENT, [first])
        assert [one.id for one in claim(queue)] == [second]
    assert [one.id for one in claim(queue)] == [first]


def test_an_ack_that_waited_for_an_expiry_is_lost(queue):
    (event,) = put(queue, 1)
    held = claim(queue)[0]
    with session() as other:
        other.execute(EXPIRE, [event])
        other.execute("UPDATE queue_event SET state = 'ready', due_at = NULL, lease_token = NULL WHERE id = %s", [event])
        with in_background(lambda: outcome(acknowledge, event, held.token)) as late:
            until(waiting_for_a_lock)
            other.commit()
        assert isinstance(late.result(), LeaseLost)
    assert [one.id for one in claim(queue)] == [event]


def test_an_expiry_that_met_an_ack_hands_out_nothing(queue):
    (event,) = put(queue, 1)
    held = claim(queue, seconds=1)[0]
    with session() as other:
        other.execute("DELETE FROM queue_event WHERE id = %s", [event])
        execute("SELECT pg_sleep(1.1)")
        # The lease has ended by now, and the acknowledgement that came in time is still on its way.
        assert claim(queue) == []
        other.commit()
    assert claim(queue) == []
    with pytest.raises(NotFound):
        acknowledge(event, held.token)


def test_two_equal_acks_at_once_are_both_answered_as_done(queue):
    for _ in range(10):
        (event,) = put(queue, 1, group="k")
        held = claim(queue)[0]
        assert at_once(*[lambda event=event, held=held: acknowledge(event, held.token)] * 3) == [None] * 3


def test_equal_batches_of_acks_in_opposite_orders_are_all_done(queue):
    for _ in range(5):
        put(queue, 20)
        for n in range(10):
            put(queue, 1, group=f"k{n}", idempotency_key=str(uuid4()))
        acks = [(one.id, one.token.secret) for one in claim(queue, limit=30)]
        assert len(acks) == 30
        results = at_once(*[lambda given=given: acknowledge_several(queue.id, given) for given in (acks, acks[::-1]) * 2])
        assert results == [[None] * 30] * 4
    assert states() == {}


def test_batches_of_acks_beside_enqueues_with_the_same_keys_neither_lock_up_nor_lose_the_head(queue):
    keys = [f"k{n}" for n in range(8)]
    for number in range(5):
        wave = [NewEvent("{}", group_key=key, idempotency_key=f"{key}/{number}") for key in keys]
        enqueue(queue, wave)
        acks = [(one.id, one.token.secret) for one in claim(queue, limit=8)]
        assert len(acks) == 8
        again = [
            NewEvent("{}", group_key=event.group_key, idempotency_key=event.idempotency_key) for event in reversed(wave)
        ]
        late = [NewEvent("{}", group_key=key) for key in reversed(keys)]
        done, *enqueued = at_once(
            lambda acks=acks: acknowledge_several(queue.id, acks[::-1]),
            lambda again=again: enqueue(queue, again),
            lambda late=late: enqueue(queue, late),
        )
        assert done == [None] * 8
        assert not [result for result in enqueued if isinstance(result, Exception)]
        assert sweep.repair_groups(queue.id) == 0
        while left := claim(queue, limit=100):
            assert acknowledge_several(queue.id, [(one.id, one.token.secret) for one in left]) == [None] * len(left)
    assert states() == {}


def test_of_an_ack_and_a_nack_at_once_one_wins_and_the_other_is_lost(queue):
    outcomes = Counter()
    for _ in range(15):
        (event,) = put(queue, 1)
        held = claim(queue)[0]
        done, back = at_once(
            lambda event=event, held=held: outcome(acknowledge, event, held.token),
            lambda event=event, held=held: outcome(nack, event, held.token, None, 2_592_000),
        )
        if done is None:
            assert isinstance(back, LeaseLost)
        else:
            assert isinstance(done, LeaseLost)
            assert isinstance(back, GivenBack)
        outcomes["acked" if done is None else "given back"] += 1
    assert states() == ({"waiting": outcomes["given back"]} if outcomes["given back"] else {})


def test_a_heartbeat_that_came_before_the_claim_keeps_the_lease(queue):
    (event,) = put(queue, 1)
    held = claim(queue, seconds=1)[0]
    with session() as other:
        other.execute("UPDATE queue_event SET due_at = statement_timestamp() + interval '1 hour' WHERE id = %s", [event])
        execute("SELECT pg_sleep(1.1)")
        # By the old version of the row the lease has ended; its new one is not committed yet.
        assert claim(queue) == []
        other.commit()
    assert claim(queue) == []
    acknowledge(event, held.token)


def test_of_a_heartbeat_and_a_claim_at_the_end_of_a_lease_one_wins(queue):
    for _ in range(10):
        (event,) = put(queue, 1)
        held = claim(queue)[0]
        execute(EXPIRE, event)
        late, found = at_once(lambda e=event, h=held: outcome(heartbeat, e, h.token, 60), lambda: claim(queue))
        assert isinstance(late, LeaseLost)
        found = found or claim(queue)
        assert [one.id for one in found] == [event]
        acknowledge(event, found[0].token)


def test_a_purge_and_an_ack_at_once_end_in_one_answer_and_an_empty_queue(queue):
    for _ in range(10):
        put(queue, 3, group="k")
        held = claim(queue)[0]
        done, purged = at_once(
            lambda held=held: outcome(acknowledge, held.id, held.token), lambda: queues.purge(None, queue.id)
        )
        assert done is None or isinstance(done, LeaseLost | NotFound)
        assert not isinstance(purged, Exception)
        sweep.finish_purges()
        assert states() == {}


def test_a_purge_and_enqueues_of_one_key_leave_no_key_stuck(queue):
    for _ in range(10):
        put(queue, 3, group="k")
        results = at_once(lambda: queues.purge(None, queue.id), *[lambda: put(queue, 2, group="k")] * 2)
        assert not [result for result in results if isinstance(result, Exception)]
        sweep.finish_purges()
        while found := claim(queue):
            acknowledge(found[0].id, found[0].token)
        assert states() == {}


def test_enqueue_and_settle_of_one_key_at_once_leave_no_key_stuck(queue):
    for _ in range(25):
        put(queue, 1, group="k")
        held = claim(queue)[0]
        done, _ = at_once(lambda held=held: acknowledge(held.id, held.token), lambda: put(queue, 1, group="k"))
        assert done is None
        (last,) = claim(queue)
        acknowledge(last.id, last.token)
    assert sweep.repair_groups(queue.id) == 0


def test_batches_with_keys_in_opposite_order_do_not_lock_each_other_out(queue):
    keys = [f"k{n}" for n in range(20)]

    def batch(order: list[str]) -> list:
        return enqueue(queue, [NewEvent("{}", group_key=key, idempotency_key=key) for key in order])

    for _ in range(5):
        one, other = at_once(lambda: batch(keys), lambda: batch(keys[::-1]))
        assert {event.id for event in one} == {event.id for event in other}
        execute("DELETE FROM queue_key")
        execute("DELETE FROM queue_event")


def test_one_key_enqueued_by_many_at_once_is_one_event(queue):
    made = at_once(*[lambda: enqueue(queue, [NewEvent("{}", idempotency_key="once")])[0]] * 12)
    assert len({event.id for event in made}) == 1
    assert sorted(event.duplicate for event in made) == [False] + [True] * 11
    assert states() == {"ready": 1}


def test_eight_claimers_at_once_keep_every_key_in_order_and_one_at_a_time(queue):
    for n in range(20):
        enqueue(queue, [NewEvent(f"{n}", group_key=f"k{key}") for key in range(5)])
    seen: dict[str, list[int]] = defaultdict(list)
    out: Counter[str] = Counter()
    groups = dict(execute("SELECT id, group_key FROM queue_event"))

    def work() -> None:
        idle = 0
        while idle < 20:
            found = claim(queue, limit=2)
            idle = 0 if found else idle + 1
            for one in found:
                key = groups[one.id]
                out[key] += 1
                assert out[key] == 1, "two events of one key are out"
                seen[key].append(int(one.payload))
            for one in found:
                out[groups[one.id]] -= 1
                acknowledge(one.id, one.token)

    assert at_once(*[work] * 8) == [None] * 8
    assert {key: order for key, order in seen.items()} == {f"k{key}": list(range(20)) for key in range(5)}


def test_two_schedulers_at_once_fire_each_due_time_once(queue):
    execute(
        "INSERT INTO schedule (uid, queue_id, name, payload, every_seconds, time_zone, enabled, misfire, planned_until,"
        " version, missed, error, created_at, updated_at) SELECT gen_random_uuid(), %s, 's' || n, '{}', 7, 'UTC', true,"
        " 'catch-up', statement_timestamp() - interval '5 minutes', 1, 0, '', statement_timestamp() - interval '1 hour',"
        " statement_timestamp() FROM generate_series(1, 10) AS n",
        queue.id,
    )
    results = at_once(*[fire_schedules] * 4)
    assert not [result for result in results if isinstance(result, Exception)]
    fired = execute("SELECT schedule_id, scheduled_at, count(*) FROM queue_event GROUP BY 1, 2")
    assert max(count for *_, count in fired) == 1
    by_schedule = Counter(schedule for schedule, *_ in fired)
    assert len(by_schedule) == 10
    # 390 s of every seventh; more of them when the sweeps took their time.
    assert min(by_schedule.values()) >= 55


def test_a_claim_of_a_queue_that_is_being_deleted_ends_in_nothing(queue):
    put(queue, 1)
    claim(queue)
    queues.delete(None, queue.id)
    assert claim(queue) == []
    with pytest.raises(NotFound):
        enqueue(queue, [NewEvent("{}")])
    assert execute("SELECT count(*) FROM queue_event WHERE state <> 'leased'") == [(0,)]


def outcome(step, *arguments) -> object:
    """What it answered, or the error a client would be told."""
    try:
        return step(*arguments)
    except (LeaseLost, NotFound) as error:
        return error


@pytest.fixture
def impatient() -> Iterator[None]:
    execute("SET lock_timeout = '50ms'")
    yield
    execute("RESET lock_timeout")


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_a_queue_that_cannot_be_swept_does_not_keep_the_next_from_it(impatient, caplog, order):
    for name in order:
        queues.create(None, name, max_attempts=1)
        put(find_queue(name), 1, group="k")
        claim(find_queue(name))
    execute("UPDATE queue_event SET due_at = due_at - interval '1 hour'")
    with session() as other:
        other.execute("SELECT 1 FROM queue_group WHERE queue_id = %s FOR UPDATE", [find_queue("a").id])
        assert tasks.expire() == 1
        assert execute("SELECT queue_id FROM queue_event WHERE state = 'dead'") == [(find_queue("b").id,)]
        assert [record.queue_id for record in caplog.records if record.message == "queues.not_swept"] == [find_queue("a").id]
    assert tasks.expire() == 1
    assert states() == {"dead": 2}


def test_a_queue_that_cannot_be_emptied_does_not_keep_the_next_from_it(impatient):
    for name in ("a", "b", "purged"):
        queues.create(None, name)
        put(find_queue(name), 1)
    stuck, purged = find_queue("a").id, find_queue("purged").id
    execute("UPDATE queue SET purged_to = 9223372036854775807, purged_at = statement_timestamp() WHERE id = %s", purged)
    for name in ("a", "b"):
        queues.delete(None, find_queue(name).id)
    with session() as other:
        other.execute("SELECT 1 FROM queue_event WHERE queue_id = %s FOR UPDATE", [stuck])
        assert tasks.forget() == 2
        assert execute("SELECT queue_id FROM queue_event") == [(stuck,)]
    assert tasks.forget() == 1
    assert states() == {}
