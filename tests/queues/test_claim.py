"""Who gets what, in which order, and for how long."""

from datetime import UTC, datetime, timedelta

from tests.queues.conftest import data, execute


def test_an_empty_queue_answers_null(worker):
    assert worker.claim() is None


def test_it_hands_out_what_was_enqueued_exactly_as_sent(worker):
    made = worker.api.post(f"{worker.path}/events", b'{"payload": {"b": 1.0, "a":  "\\u0000", "b": 1e2 } }').json()["data"]
    answer = worker.api.post(f"{worker.path}/claim", {"leaseSeconds": 900})
    assert b'"payload":{"b": 1.0, "a":  "\\u0000", "b": 1e2 }' in answer.content
    claim = answer.json()["data"]
    assert claim["event"]["id"] == made["id"]
    assert claim["event"]["scheduleId"] is None
    assert claim["event"]["scheduledAt"] == made["scheduledAt"]
    assert claim["event"]["attemptCount"] == 1
    assert set(claim) == {"event", "leaseToken", "leaseExpiresAt"}


def test_it_takes_the_lease_seconds_of_the_claim_or_of_the_queue(new_worker):
    worker = new_worker(defaultLeaseSeconds=600)
    worker.enqueue()
    worker.enqueue()
    assert 500 < _seconds_left(worker.claim()) <= 600
    assert 43_000 < _seconds_left(worker.claim(leaseSeconds=43_200)) <= 43_200


def _seconds_left(claim):
    return (datetime.fromisoformat(claim["leaseExpiresAt"]) - datetime.now(UTC)).total_seconds()


def test_what_is_out_is_not_handed_out_again(worker):
    worker.enqueue()
    assert worker.claim() is not None
    assert worker.claim() is None


def test_it_hands_out_by_priority_then_scheduled_time_then_age(worker):
    past = [(datetime.now(UTC) - timedelta(seconds=back)).isoformat() for back in (30, 20)]
    worker.enqueue({"n": 3})
    worker.enqueue({"n": 4})
    worker.enqueue({"n": 2}, scheduledAt=past[1])
    worker.enqueue({"n": 1}, scheduledAt=past[0])
    worker.enqueue({"n": 0}, priority=100)
    worker.enqueue({"n": 5}, priority=-100)
    assert worker.claim_all() == [0, 1, 2, 3, 4, 5]


def test_a_batch_keeps_the_order_and_has_a_token_each(worker):
    for n in range(5):
        worker.enqueue({"n": n})
    claims = worker.claim(limit=3)["claims"]
    assert [claim["event"]["payload"]["n"] for claim in claims] == [0, 1, 2]
    assert len({claim["leaseToken"] for claim in claims}) == 3
    assert len(worker.claim(limit=100)["claims"]) == 2
    assert worker.claim(limit=1) == {"claims": []}


def test_a_delayed_event_is_handed_out_when_it_is_due_and_not_before(worker):
    worker.enqueue({"n": 1}, delaySeconds=2_592_000, priority=100)
    assert worker.claim() is None
    worker.fall_due()
    worker.enqueue({"n": 2})
    assert worker.claim_all() == [1, 2]


def test_a_delay_and_a_time_are_the_same_thing(worker):
    at = datetime.now(UTC) + timedelta(hours=1)
    assert worker.enqueue(scheduledAt=at.isoformat())["scheduledAt"] == at.isoformat().replace("+00:00", "Z")
    delayed = datetime.fromisoformat(worker.enqueue(delaySeconds=3600)["scheduledAt"])
    assert abs(delayed - at) < timedelta(seconds=300)


def test_an_expired_lease_is_a_redelivery_under_a_new_token(worker):
    worker.enqueue()
    first = worker.claim(workerId="w1")
    worker.expire()
    second = worker.claim(workerId="w1")
    assert second["event"]["id"] == first["event"]["id"]
    assert second["event"]["attemptCount"] == 2
    assert second["leaseToken"] != first["leaseToken"]


def test_an_exhausted_event_dies_at_the_next_claim_and_the_others_flow(new_worker):
    worker = new_worker(maxAttempts=1)
    worker.enqueue({"n": 1})
    worker.claim()
    worker.expire()
    worker.enqueue({"n": 2})
    assert worker.claim_all() == [2]
    (dead,) = worker.get("/dead-letters")["items"]
    assert dead["payload"] == {"n": 1}
    assert dead["attemptCount"] == 1
    assert dead["error"]


def test_many_events_due_at_once_are_promoted_and_told_about(worker, django_capture_on_commit_callbacks):
    for _ in range(2):
        worker.api.post(f"{worker.path}/events", {"events": [{"payload": {"n": n}, "delaySeconds": 60} for n in range(600)]})
    worker.fall_due()
    with django_capture_on_commit_callbacks() as told:
        assert worker.claim() is not None
    assert len(told) == 1
    assert execute("SELECT count(*) FROM queue_event WHERE state = 'ready'") == [(999,)]
    assert len(worker.claim(limit=100)["claims"]) == 100
    assert execute("SELECT count(*) FROM queue_event WHERE state = 'waiting'") == [(0,)]


def test_a_paused_queue_hands_out_nothing_but_lets_settle(worker):
    for n in range(4):
        worker.enqueue({"n": n})
    held = [worker.claim() for _ in range(3)]
    assert worker.act("pause", reason="deploy")["pauseReason"] == "deploy"
    assert worker.claim() is None
    assert worker.claim(limit=5) == {"claims": []}
    assert data(worker.call("heartbeat", held[0], leaseSeconds=60))["leaseExpiresAt"]
    worker.ack(held[0])
    worker.nack(held[1], retryDelaySeconds=0)
    worker.expire()
    assert worker.claim() is None
    worker.act("pause", reason="longer")
    worker.act("resume")
    assert worker.act("resume")["pausedAt"] is None
    assert sorted(worker.claim_all()) == [1, 2, 3]


def test_a_claim_of_a_deleted_queue_is_404(worker):
    assert data(worker.api.delete(worker.path)) is None
    answer = worker.api.post(f"{worker.path}/claim", {"waitSeconds": 20})
    assert answer.status_code == 404
    assert answer.json()["code"] == 404
    assert answer.json()["data"] is None


def test_an_event_that_has_had_more_attempts_than_are_now_allowed_is_given_up_instead_of_handed_out(new_worker):
    """Ready or waiting, with and without a key; what stands behind it is handed out in the same call."""
    worker = new_worker(maxAttempts=5)
    for n, key in enumerate((None, "k", None)):
        worker.enqueue({"n": n}, **({"groupKey": key} if key else {}))
    worker.enqueue({"n": 3}, groupKey="k")
    for _ in range(2):
        for claim in worker.claim(limit=3)["claims"]:
            worker.nack(claim, retryDelaySeconds=0 if claim["event"]["payload"]["n"] else 60)
        worker.fall_due()
    worker.enqueue({"n": 4})
    data(worker.api.patch(worker.path, {"maxAttempts": 2}))
    assert worker.claim_all() == [3, 4]
    dead = worker.get("/dead-letters")["items"]
    assert sorted((one["payload"]["n"], one["attemptCount"]) for one in dead) == [(0, 2), (1, 2), (2, 2)]


def test_one_attempt_more_is_handed_out_where_it_is_still_allowed(new_worker):
    worker = new_worker(maxAttempts=5)
    worker.enqueue({"n": 0})
    worker.nack(worker.claim(), retryDelaySeconds=0)
    data(worker.api.patch(worker.path, {"maxAttempts": 2}))
    assert worker.claim()["event"]["attemptCount"] == 2
