"""Heartbeat, ack and nack: the token decides, and only while its lease runs."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.queues.conftest import data, execute

VERBS = [("heartbeat", {"leaseSeconds": 60}), ("ack", {}), ("nack", {})]


def seconds_until(text):
    return (datetime.fromisoformat(text) - datetime.now(UTC)).total_seconds()


def code(answer):
    body = answer.json()
    assert body["code"] == answer.status_code
    assert body["data"] is None
    return answer.status_code, body["error"]["code"]


def test_an_acked_event_is_gone(worker):
    worker.enqueue()
    claim = worker.claim()
    assert worker.ack(claim) == {"status": "acked"}
    worker.expire()
    assert worker.claim() is None
    assert execute("SELECT count(*) FROM queue_event") == [(0,)]


def test_a_repeated_ack_is_the_same_for_two_days(worker):
    worker.enqueue()
    claim = worker.claim()
    worker.ack(claim)
    assert worker.ack(claim) == {"status": "acked"}
    execute("UPDATE queue_settled SET at = at - interval '47 hours'")
    assert worker.ack(claim) == {"status": "acked"}
    execute("UPDATE queue_settled SET at = at - interval '2 hours'")
    assert worker.call("ack", claim).status_code in (404, 409)


def test_a_repeated_nack_is_the_same_also_after_the_next_claim(worker):
    worker.enqueue()
    claim = worker.claim()
    first = worker.nack(claim, retryDelaySeconds=0)
    assert first["status"] == "waiting"
    assert worker.nack(claim, retryDelaySeconds=500) == first
    again = worker.claim()
    assert worker.nack(claim) == first
    assert worker.ack(again) == {"status": "acked"}


def test_one_token_has_one_outcome(worker):
    worker.enqueue()
    worker.enqueue()
    acked, nacked = worker.claim(), worker.claim()
    worker.ack(acked)
    worker.nack(nacked)
    assert code(worker.call("nack", acked)) == (409, "LEASE_LOST")
    assert code(worker.call("ack", nacked)) == (409, "LEASE_LOST")
    for settled in (acked, nacked):
        assert code(worker.call("heartbeat", settled, leaseSeconds=60)) == (409, "LEASE_LOST")


def test_a_nack_waits_as_long_as_it_says(worker):
    worker.enqueue()
    answer = worker.nack(worker.claim(), error="boom", retryDelaySeconds=2_592_000)
    assert 2_591_000 < seconds_until(answer["scheduledAt"]) <= 2_592_000
    assert worker.claim() is None
    worker.fall_due()
    assert worker.claim()["event"]["attemptCount"] == 2


def test_a_nack_without_a_delay_waits_exponentially_with_jitter_up_to_a_cap(new_worker):
    worker = new_worker(maxAttempts=1000, retryFirstSeconds=400, retryMaxSeconds=2000)
    worker.enqueue()
    for most in (400, 800, 1600, 2000, 2000):
        left = seconds_until(worker.nack(worker.claim())["scheduledAt"])
        assert most / 2 - 100 < left <= most
        worker.fall_due()
    execute("UPDATE queue_event SET attempts = 900")
    assert seconds_until(worker.nack(worker.claim())["scheduledAt"]) <= 2000


def test_a_redelivered_event_keeps_the_time_it_was_scheduled_at(worker):
    made = worker.enqueue()
    worker.nack(worker.claim(), retryDelaySeconds=0)
    assert worker.claim()["event"]["scheduledAt"] == made["scheduledAt"]


def test_after_its_last_attempt_an_event_is_dead(new_worker):
    worker = new_worker(maxAttempts=2)
    worker.enqueue({"n": 1})
    assert worker.nack(worker.claim(), retryDelaySeconds=0)["status"] == "waiting"
    last = worker.claim()
    assert worker.nack(last, error="boom\x00", retryDelaySeconds=0) == {"status": "dead", "scheduledAt": None}
    assert worker.nack(last) == {"status": "dead", "scheduledAt": None}
    assert worker.claim() is None
    assert worker.get("/dead-letters")["items"][0]["error"] == "boom\ufffd"


def test_an_error_text_is_cut_to_2000_characters(new_worker):
    worker = new_worker(maxAttempts=1)
    worker.enqueue()
    worker.nack(worker.claim(), error="é" * 3000)
    assert worker.get("/dead-letters")["items"][0]["error"] == "é" * 2000


@pytest.mark.parametrize(("verb", "fields"), VERBS)
def test_a_lease_is_lost_when_it_expired_even_if_nobody_else_has_it(worker, verb, fields):
    worker.enqueue()
    claim = worker.claim()
    worker.expire()
    assert code(worker.call(verb, claim, **fields)) == (409, "LEASE_LOST")


@pytest.mark.parametrize(("verb", "fields"), VERBS)
def test_a_lease_is_lost_when_somebody_else_has_it_and_theirs_is_untouched(worker, verb, fields):
    worker.enqueue()
    late = worker.claim()
    worker.expire()
    current = worker.claim()
    assert code(worker.call(verb, late, **fields)) == (409, "LEASE_LOST")
    assert worker.ack(current) == {"status": "acked"}


@pytest.mark.parametrize(("verb", "fields"), VERBS)
def test_an_unknown_event_is_404_and_a_known_one_under_a_strange_token_409(new_worker, verb, fields):
    worker, other = new_worker(), new_worker()
    worker.enqueue()
    other.enqueue()
    claim, foreign = worker.claim(), other.claim()
    unknown = {**claim, "event": {"id": str(uuid4())}}
    assert code(worker.call(verb, unknown, **fields)) == (404, "NOT_FOUND")
    assert code(worker.call(verb, {**claim, "event": {"id": "no-uuid"}}, **fields)) == (404, "NOT_FOUND")
    for token in (
        claim["leaseToken"][:-1] + "x",
        "stale",
        "",
        f"{claim['leaseToken'].split('.')[0]}.{uuid4().hex}",
        "9" * 400,
    ):
        assert code(worker.call(verb, {**claim, "leaseToken": token}, **fields)) == (409, "LEASE_LOST"), token
        assert code(worker.call(verb, {**unknown, "leaseToken": token}, **fields)) == (404, "NOT_FOUND"), token
    crossed = worker.call(verb, {**claim, "leaseToken": foreign["leaseToken"]}, **fields)
    assert crossed.status_code in (404, 409)
    assert worker.ack(claim) == {"status": "acked"}


@pytest.mark.parametrize(("verb", "fields"), VERBS)
def test_after_its_queue_is_deleted_an_event_is_404(worker, verb, fields):
    worker.enqueue()
    claim = worker.claim()
    data(worker.api.delete(worker.path))
    assert code(worker.call(verb, claim, **fields)) == (404, "NOT_FOUND")


def test_a_heartbeat_sets_the_end_also_to_a_sooner_one(worker):
    worker.enqueue()
    claim = worker.claim(leaseSeconds=43_200)
    assert 200 < seconds_until(data(worker.call("heartbeat", claim, leaseSeconds=300))["leaseExpiresAt"]) <= 300
    assert 800 < seconds_until(data(worker.call("heartbeat", claim, leaseSeconds=900))["leaseExpiresAt"]) <= 900


@pytest.mark.parametrize("seconds", [0, -5, 43_201, 10**10, 0.5, True, "60", None])
def test_a_lease_has_a_bounded_term(worker, seconds):
    worker.enqueue()
    claim = worker.claim()
    for answer in (
        worker.call("heartbeat", claim, leaseSeconds=seconds),
        *([] if seconds is None else [worker.api.post(f"{worker.path}/claim", {"leaseSeconds": seconds})]),
    ):
        assert answer.status_code == 400
        assert answer.json()["error"]["details"]["field"] == "leaseSeconds"


@pytest.mark.parametrize(
    "fields",
    [
        {"waitSeconds": 61},
        {"waitSeconds": -1},
        {"limit": 0},
        {"limit": 101},
        {"workerId": ""},
        {"workerId": "w" * 201},
        {"workerId": "a\nb"},
        {"workerId": "\u202e"},
        {"worker": "w"},
    ],
)
def test_a_claim_out_of_range_is_a_400_and_takes_nothing(worker, fields):
    worker.enqueue()
    answer = worker.api.post(f"{worker.path}/claim", fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["field"] == next(iter(fields))
    assert worker.claim()["event"]["attemptCount"] == 1


@pytest.mark.parametrize("delay", [-1, 2_592_001, 1.5, "30", 10**18])
def test_a_retry_delay_out_of_range_is_a_400_and_the_lease_stays(worker, delay):
    worker.enqueue()
    claim = worker.claim()
    assert worker.call("nack", claim, retryDelaySeconds=delay).status_code == 400
    assert worker.ack(claim) == {"status": "acked"}
