"""One event of a group key at a time, in the order of enqueueing."""

from apps.queues.operations import sweep
from tests.queues.conftest import data, execute


def number(worker) -> int:
    return execute("SELECT id FROM queue WHERE name = %s", worker.queue)[0][0]


def test_one_event_of_a_key_is_out_at_a_time_and_other_keys_flow(worker):
    for n, key in enumerate(["a", "a", "b", "b", None]):
        worker.enqueue({"n": n}, **({"groupKey": key} if key else {}))
    claims = worker.claim(limit=100)["claims"]
    assert [claim["event"]["payload"]["n"] for claim in claims] == [0, 2, 4]
    worker.ack(claims[1])
    assert worker.claim_all() == [3]
    worker.ack(claims[0])
    assert worker.claim_all() == [1]


def test_the_order_within_a_key_is_that_of_enqueueing_whatever_priority_and_time_say(worker):
    worker.enqueue({"n": 0}, groupKey="k", priority=-100)
    worker.enqueue({"n": 1}, groupKey="k", priority=100)
    worker.enqueue({"n": 2}, groupKey="k", scheduledAt="2020-01-01T00:00:00Z")
    order = []
    while claim := worker.claim():
        order.append(claim["event"]["payload"]["n"])
        worker.ack(claim)
    assert order == [0, 1, 2]


def test_priority_decides_between_keys(worker):
    worker.enqueue({"n": 0}, groupKey="a")
    worker.enqueue({"n": 1}, groupKey="b", priority=5)
    assert worker.claim_all() == [1, 0]


def test_a_scheduled_head_holds_its_key(worker):
    worker.enqueue({"n": 0}, groupKey="k", delaySeconds=3600)
    worker.enqueue({"n": 1}, groupKey="k")
    assert worker.claim() is None
    worker.fall_due()
    assert worker.claim()["event"]["payload"] == {"n": 0}
    assert worker.claim() is None


def test_a_head_that_waits_for_a_retry_or_lost_its_lease_holds_its_key(worker):
    for n in range(2):
        worker.enqueue({"n": n}, groupKey="k")
    worker.nack(worker.claim(), retryDelaySeconds=3600)
    assert worker.claim() is None
    worker.fall_due()
    assert worker.claim()["event"]["payload"] == {"n": 0}
    worker.expire()
    again = worker.claim()
    assert again["event"]["payload"] == {"n": 0}
    worker.ack(again)
    assert worker.claim()["event"]["payload"] == {"n": 1}


def test_a_follower_with_a_time_of_its_own_waits_for_it_once_it_heads_the_key(worker):
    worker.enqueue({"n": 0}, groupKey="k")
    worker.enqueue({"n": 1}, groupKey="k", delaySeconds=3600)
    worker.ack(worker.claim())
    assert worker.claim() is None
    worker.fall_due()
    assert worker.claim()["event"]["payload"] == {"n": 1}


def test_a_batch_of_one_key_is_handed_out_one_by_one(worker):
    data(
        worker.api.post(f"{worker.path}/events", {"events": [{"payload": {"n": n}, "groupKey": "k"} for n in range(4)]}), 201
    )
    order = []
    while claims := worker.claim(limit=100)["claims"]:
        assert len(claims) == 1
        order.append(claims[0]["event"]["payload"]["n"])
        worker.ack(claims[0])
    assert order == [0, 1, 2, 3]


def test_a_duplicate_does_not_hold_a_key(worker):
    worker.enqueue({"n": 0}, idempotencyKey="i")
    worker.enqueue({"n": 1}, idempotencyKey="i", groupKey="k")
    worker.enqueue({"n": 2}, groupKey="k")
    assert sorted(worker.claim_all()) == [0, 2]


def test_a_dead_head_releases_its_key(new_worker):
    worker = new_worker(maxAttempts=1)
    for n in range(3):
        worker.enqueue({"n": n}, groupKey="k")
    worker.nack(worker.claim())
    assert worker.claim()["event"]["payload"] == {"n": 1}
    worker.expire()
    # The claim that meets the exhausted head parks it; the key is free for the next.
    assert worker.claim() is None
    assert worker.claim()["event"]["payload"] == {"n": 2}
    assert [dead["payload"]["n"] for dead in worker.get("/dead-letters")["items"]] == [1, 0]


def test_a_redriven_event_goes_to_the_end_of_its_key(new_worker):
    worker = new_worker(maxAttempts=1)
    for n in range(3):
        worker.enqueue({"n": n}, groupKey="k")
    worker.nack(worker.claim())
    (dead,) = worker.get("/dead-letters")["items"]
    worker.act(f"dead-letters/{dead['id']}/redrive")
    order = []
    while claim := worker.claim():
        order.append(claim["event"]["payload"]["n"])
        worker.ack(claim)
    assert order == [1, 2, 0]


def test_a_key_without_a_head_is_repaired_and_counted(worker):
    for n in range(3):
        worker.enqueue({"n": n}, groupKey="k")
        worker.enqueue({"n": n}, groupKey="sound")
    assert sweep.repair_groups(number(worker)) == 0
    execute("DELETE FROM queue_event WHERE group_key = 'k' AND state = 'ready'")
    assert sweep.repair_groups(number(worker)) == 1
    assert sweep.repair_groups(number(worker)) == 0
    assert sorted(worker.claim_all()) == [0, 1]


def test_keys_that_nobody_uses_are_forgotten_and_work_again(worker):
    worker.enqueue({"n": 0}, groupKey="idle")
    worker.ack(worker.claim())
    worker.enqueue({"n": 1}, groupKey="used")
    assert sweep.forget(number(worker)) == 0
    execute("UPDATE queue_group SET touched_at = touched_at - interval '2 hours'")
    assert sweep.forget(number(worker)) == 1
    assert execute("SELECT group_key FROM queue_group") == [("used",)]
    worker.enqueue({"n": 2}, groupKey="idle")
    assert worker.claim_all() == [1, 2]
