"""A batch of acknowledgements: each is judged as if it had come alone."""

from uuid import uuid4

import pytest

from tests.factories import Api, api_key
from tests.queues.conftest import data, execute


def claims_of(worker, count, **fields):
    for n in range(count):
        worker.enqueue({"n": n}, **fields)
    return worker.claim(limit=count)["claims"]


def test_a_hundred_are_acked_at_once(worker):
    events = {"events": [{"payload": {}} for _ in range(101)]}
    data(worker.api.post(f"{worker.path}/events", events), 201)
    assert worker.ack_several(*worker.claim(limit=100)["claims"]) == ["acked"] * 100
    assert execute("SELECT count(*) FROM queue_event") == [(1,)]


def test_each_is_acked_or_refused_on_its_own_in_the_order_given(new_worker):
    worker, other = new_worker(), new_worker()
    lost, acked, nacked, held, beaten = claims_of(worker, 5)
    foreign = claims_of(other, 1)[0]
    worker.ack(acked)
    worker.nack(nacked)
    execute("UPDATE queue_event SET due_at = due_at - interval '1 hour' WHERE id = %s", lost["event"]["id"])
    data(worker.call("heartbeat", beaten, leaseSeconds=900))
    strange = {**held, "leaseToken": "stale"}
    unknown = {"event": {"id": str(uuid4())}, "leaseToken": held["leaseToken"]}
    no_id = {"event": {"id": "no-uuid"}, "leaseToken": held["leaseToken"]}
    crossed = {**held, "leaseToken": foreign["leaseToken"]}
    said = worker.ack_several(lost, acked, nacked, strange, held, unknown, no_id, crossed, foreign, beaten, held)
    assert said == [
        "LEASE_LOST", "acked", "LEASE_LOST", "LEASE_LOST", "acked", "NOT_FOUND", "NOT_FOUND", "LEASE_LOST", "NOT_FOUND",
        "acked", "acked"]  # fmt: skip
    assert other.ack(foreign) == {"status": "acked"}
    assert execute("SELECT id::text FROM queue_event ORDER BY n") == [(lost["event"]["id"],), (nacked["event"]["id"],)]


def test_a_refused_one_says_why_as_it_would_alone(worker):
    (held,) = claims_of(worker, 1)
    stale = {**held, "leaseToken": "stale"}
    alone = worker.call("ack", stale).json()["error"]
    answer = worker.api.post(f"{worker.path}/ack", {"acks": [{"id": held["event"]["id"], "leaseToken": "stale"}]})
    assert data(answer)["results"] == [
        {"id": held["event"]["id"], "error": {"code": alone["code"], "message": alone["message"]}}
    ]


def test_a_repeated_batch_has_the_same_answer_for_two_days_also_one_by_one(worker):
    claims = claims_of(worker, 3)
    for _ in range(2):
        assert worker.ack_several(*claims) == ["acked"] * 3
    assert worker.ack(claims[0]) == {"status": "acked"}
    execute("UPDATE queue_settled SET at = at - interval '49 hours'")
    assert set(worker.ack_several(*claims)) <= {"LEASE_LOST", "NOT_FOUND"}


def test_the_next_of_each_key_come_forward(worker):
    for n in range(6):
        worker.enqueue({"n": n}, groupKey=f"k{n % 2}")
    worker.enqueue({"n": 6}, groupKey="k0", delaySeconds=3600)
    order = []
    while claims := worker.claim(limit=10)["claims"]:
        order.append([claim["event"]["payload"]["n"] for claim in claims])
        assert worker.ack_several(*claims) == ["acked"] * len(claims)
    assert order == [[0, 1], [2, 3], [4, 5]]
    assert execute("SELECT state FROM queue_event") == [("waiting",)]


def test_idempotency_keys_stay_taken_for_a_day(worker):
    made = [worker.enqueue({}, idempotencyKey=key) for key in ("b", "a")]
    worker.ack_several(*worker.claim(limit=2)["claims"])
    assert worker.enqueue({}, idempotencyKey="a") == {**made[1], "duplicate": True}
    execute("UPDATE queue_key SET free_at = free_at - interval '25 hours'")
    assert worker.enqueue({}, idempotencyKey="a")["duplicate"] is False


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "acks"),
        ({"acks": None}, "acks"),
        ({"acks": []}, "acks"),
        ({"acks": [{"id": str(uuid4()), "leaseToken": "t"}] * 101}, "acks"),
        ({"acks": [{"id": str(uuid4())}]}, "acks[0].leaseToken"),
        ({"acks": [{"id": 7, "leaseToken": "t"}]}, "acks[0].id"),
        ({"acks": [{"id": "\x00", "leaseToken": "t"}]}, "acks[0].id"),
        ({"acks": [{"id": "a", "leaseToken": "t", "status": "ok"}]}, "acks[0].status"),
        ({"acks": [{"id": "a", "leaseToken": "t"}], "queue": "q"}, "queue"),
    ],
)
def test_a_malformed_item_refuses_the_whole_batch(worker, body, field):
    (held,) = claims_of(worker, 1)
    good = {"id": held["event"]["id"], "leaseToken": held["leaseToken"]}
    if field.startswith("acks["):
        body, field = {"acks": [good, *body["acks"]]}, field.replace("0", "1")
    answer = worker.api.post(f"{worker.path}/ack", body)
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["field"] == field
    assert worker.ack(held) == {"status": "acked"}


@pytest.mark.parametrize("text", ["", "é" * 300, "9" * 4000, "1." + "f" * 32, "{}", "urn:uuid:", "0.0"])
def test_no_id_and_no_token_causes_more_than_a_refusal(worker, text):
    (held,) = claims_of(worker, 1)
    acks = [
        {"id": text, "leaseToken": held["leaseToken"]},
        {"id": held["event"]["id"], "leaseToken": text},
        {"id": text, "leaseToken": text},
    ]
    results = data(worker.api.post(f"{worker.path}/ack", {"acks": acks}))["results"]
    assert [result["error"]["code"] for result in results] == ["NOT_FOUND", "LEASE_LOST", "NOT_FOUND"]
    assert worker.ack(held) == {"status": "acked"}


def test_a_queue_that_is_gone_unknown_or_outside_the_pattern_is_404(worker):
    (held,) = claims_of(worker, 1)
    body = {"acks": [{"id": held["event"]["id"], "leaseToken": held["leaseToken"]}]}
    assert worker.api.post("/v1/event-queues/no-such/ack", body).status_code == 404
    assert Api(api_key("read:queues other.*")).post(f"{worker.path}/ack", body).status_code == 404
    assert Api(api_key("write:queues")).post(f"{worker.path}/ack", body).status_code == 403
    data(worker.api.delete(worker.path))
    assert worker.api.post(f"{worker.path}/ack", body).status_code == 404
