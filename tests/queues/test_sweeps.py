"""Sweeps and samples: they only tidy, in bounded steps, and say as of when."""

import pytest

from apps.queues import tasks
from apps.queues.operations import sampling
from apps.queues.selectors import standing, trend
from core import partitions
from tests.queues.conftest import data, execute


def number(worker) -> int:
    return execute("SELECT id FROM queue WHERE name = %s", worker.queue)[0][0]


def test_a_sample_counts_each_state_and_the_api_says_as_of_when(new_worker):
    worker = new_worker(maxAttempts=1)
    assert worker.get()["stats"] is None
    worker.enqueue({"n": 0})
    worker.nack(worker.claim())
    for _ in range(2):
        worker.enqueue({}, groupKey="k")
    worker.claim()
    worker.enqueue({})
    worker.enqueue({}, delaySeconds=60)
    assert tasks.sample() == 1
    stats = worker.get()["stats"]
    assert {key: stats[key] for key in ("ready", "scheduled", "inFlight", "blocked", "dead", "exact")} == {
        "ready": 1, "scheduled": 1, "inFlight": 1, "blocked": 1, "dead": 1, "exact": True}  # fmt: skip
    assert stats["asOf"]
    assert stats["oldestAt"]
    assert data(worker.api.get("/v1/event-queues"))["items"][0]["stats"] == stats


def test_rates_are_those_between_two_samples(worker):
    worker.enqueue()
    sampling.sample(number(worker))
    execute("UPDATE queue_sample SET at = at - interval '1000 seconds'")
    for _ in range(20):
        worker.enqueue()
    for claim in worker.claim(limit=15)["claims"]:
        worker.ack(claim)
    sampling.sample(number(worker))
    stats = worker.get()["stats"]
    assert stats["settledPerSecond"] == pytest.approx(0.015, rel=0.2)
    assert stats["enqueuedPerSecond"] == pytest.approx(0.02, rel=0.2)
    assert len(trend(number(worker), 3600, 1)) == 2


def test_counting_stops_at_its_limit_and_says_so(worker, monkeypatch):
    monkeypatch.setattr(sampling, "MOST", 3)
    for _ in range(5):
        worker.enqueue()
    sampling.sample(number(worker))
    found = standing(number(worker)).now
    assert (found.ready, found.exact) == (3, False)


def test_the_sweep_parks_what_has_no_attempt_left_and_nothing_else(new_worker):
    worker = new_worker(maxAttempts=2)
    for n in range(4):
        worker.enqueue({"n": n})
    worker.claim(limit=2)
    worker.expire()
    execute("UPDATE queue_event SET attempts = 2 WHERE n = (SELECT min(n) FROM queue_event)")
    assert tasks.expire() == 1
    assert [item["attemptCount"] for item in worker.get("/dead-letters")["items"]] == [2]
    assert len(worker.claim(limit=100)["claims"]) == 3


def test_a_sweep_leaves_alone_what_somebody_renewed_meanwhile(new_worker):
    worker = new_worker(maxAttempts=1)
    worker.enqueue()
    claim = worker.claim(leaseSeconds=60)
    tasks.expire()
    assert worker.ack(claim) == {"status": "acked"}


def test_expired_idempotency_keys_are_forgotten(worker):
    worker.enqueue({}, idempotencyKey="k")
    worker.ack(worker.claim())
    worker.enqueue({}, idempotencyKey="living")
    assert tasks.forget() == 0
    execute("UPDATE queue_key SET free_at = free_at - interval '25 hours'")
    assert tasks.forget() == 1
    assert execute("SELECT idempotency_key FROM queue_key") == [("living",)]


def test_settled_tokens_live_in_partitions_of_a_day_and_an_ack_works_without_any(worker):
    partitions.roll_table("queue_settled", 3)
    assert len(partitions.days("queue_settled")) == 31
    worker.enqueue()
    worker.ack(worker.claim())
    assert execute("SELECT count(*) FROM ONLY queue_settled_default") == [(0,)]
    for day in partitions.days("queue_settled").values():
        execute(f"DROP TABLE {day}")
    worker.enqueue()
    claim = worker.claim()
    worker.ack(claim)
    assert worker.ack(claim) == {"status": "acked"}
    assert execute("SELECT count(*) FROM queue_settled_default") == [(1,)]


def test_every_task_runs_on_an_empty_installation(db):
    for task in (tasks.expire, tasks.repair_groups, tasks.forget, tasks.fire_schedules, tasks.sample):
        assert task() == 0
