"""What may be enqueued, all or nothing, and each idempotency key once."""

import pytest

from tests.queues.conftest import data, execute
from tests.queues.conftest import execute as sql


def rows() -> int:
    return execute("SELECT count(*) FROM queue_event")[0][0]


def test_one_event_answers_its_id_time_and_whether_it_was_known(worker):
    assert set(worker.enqueue({"to": "ana"})) == {"id", "scheduledAt", "duplicate"}


def test_a_batch_answers_in_its_order(worker):
    made = data(worker.api.post(f"{worker.path}/events", {"events": [{"payload": {"n": n}} for n in range(3)]}), 201)[
        "events"
    ]
    claims = worker.claim(limit=3)["claims"]
    assert [claim["event"]["id"] for claim in claims] == [event["id"] for event in made]
    assert [claim["event"]["payload"]["n"] for claim in claims] == [0, 1, 2]


def test_a_bad_event_of_a_batch_is_named_and_nothing_is_stored(worker):
    answer = worker.api.post(f"{worker.path}/events", {"events": [{"payload": {}}, {"payload": {}, "priority": 101}]})
    assert answer.status_code == 400
    assert answer.json()["error"]["details"] == {"field": "events[1].priority", "min": -100, "max": 100}
    assert rows() == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "payload"),
        ({"payload": None}, "payload"),
        ({"payload": []}, "payload"),
        ({"payload": "text"}, "payload"),
        ({"payload": 1}, "payload"),
        ({"payload": {}, "pirority": 1}, "pirority"),
        ({"payload": {}, "priority": True}, "priority"),
        ({"payload": {}, "priority": 1.0}, "priority"),
        ({"payload": {}, "priority": "1"}, "priority"),
        ({"payload": {}, "delaySeconds": -1}, "delaySeconds"),
        ({"payload": {}, "delaySeconds": 2_592_001}, "delaySeconds"),
        ({"payload": {}, "delaySeconds": 10**18}, "delaySeconds"),
        ({"payload": {}, "delaySeconds": 1, "scheduledAt": "2026-11-29T12:00:00Z"}, "delaySeconds"),
        ({"payload": {}, "scheduledAt": "tomorrow"}, "scheduledAt"),
        ({"payload": {}, "scheduledAt": "2026-11-29T12:00:00"}, "scheduledAt"),
        ({"payload": {}, "scheduledAt": "9999-12-31T23:59:59-23:59"}, "scheduledAt"),
        ({"payload": {}, "groupKey": ""}, "groupKey"),
        ({"payload": {}, "groupKey": "k" * 201}, "groupKey"),
        ({"payload": {}, "idempotencyKey": "\x00"}, "idempotencyKey"),
        ({"payload": {}, "idempotencyKey": 7}, "idempotencyKey"),
        ({"events": []}, "events"),
        ({"events": {}}, "events"),
        ({"events": [{"payload": {}}], "payload": {}}, "events"),
        ({"events": [{"payload": {}}], "priority": 1}, "events"),
        ({"events": [[]]}, "events[0]"),
        ({"events": [{"payload": {}}] * 1001}, "events"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_enqueued_is_a_400_that_names_the_field(worker, body, field):
    answer = worker.api.post(f"{worker.path}/events", body)
    assert answer.status_code == 400, answer.content
    assert answer.json()["error"]["details"]["field"] == field
    assert answer.json()["code"] == 400
    assert rows() == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'"x"',
        b"[" * 20_000,
        b'{"payload": {"v": NaN}}',
        b'{"payload": {"v": 1e400}}',
        b'{"payload":{},"payload":{}}',
        b'{"payload": {}, "groupKey": "\xff"}',
    ],
    ids=lambda body: repr(body[:30]),
)
def test_a_body_of_another_shape_is_a_400(worker, body):
    answer = worker.api.post(f"{worker.path}/events", body)
    assert answer.status_code == 400, answer.content
    assert rows() == 0


@pytest.mark.parametrize(
    "payload",
    [
        b'{"a":"\\u0000","\\u0000":1}',
        b'{"a":1,"a":2}',
        '{"t":"é😀\\ud83d\\ude4f"}'.encode(),
        b'{"t":"\\ud83d"}',
        b'{"v":-0,"n":1E-400,"big":' + b"9" * 40 + b"}",
        b'{ "x" : [ ] }',
    ],
)
def test_an_accepted_payload_reads_back_byte_for_byte(worker, payload):
    assert worker.api.post(f"{worker.path}/events", b'{"payload": ' + payload + b"}").status_code == 201
    assert b'"payload":' + payload + b"," in worker.api.post(f"{worker.path}/claim").content


def test_a_payload_over_the_limit_is_413_that_names_it(worker):
    fits = {"v": "x" * (256 * 1024 - 8)}
    answer = worker.api.post(f"{worker.path}/events", b'{"payload": {"v":"' + b"x" * (256 * 1024 - 8) + b'"}}')
    assert answer.status_code == 201, answer.content
    fits["v"] += "xxxxxxxx"
    answer = worker.api.post(f"{worker.path}/events", {"events": [{"payload": {}}, {"payload": fits}]})
    assert answer.status_code == 413
    assert answer.json()["error"]["details"] == {"field": "events[1].payload", "max": 262_144}
    assert rows() == 1


def test_a_key_is_taken_while_its_event_exists(worker):
    first = worker.enqueue({"n": 1}, idempotencyKey="k", delaySeconds=60)
    again = worker.enqueue({"n": 2}, idempotencyKey="k")
    assert again == {**first, "duplicate": True}
    assert rows() == 1


def test_a_key_is_taken_for_a_day_after_and_free_then(worker):
    first = worker.enqueue({"n": 1}, idempotencyKey="k")
    worker.ack(worker.claim())
    assert worker.enqueue({"n": 2}, idempotencyKey="k") == {**first, "duplicate": True}
    sql("UPDATE queue_key SET free_at = free_at - interval '23 hours'")
    assert worker.enqueue({"n": 3}, idempotencyKey="k")["duplicate"] is True
    sql("UPDATE queue_key SET free_at = free_at - interval '1 hour'")
    fresh = worker.enqueue({"n": 4}, idempotencyKey="k")
    assert fresh["duplicate"] is False
    assert fresh["id"] != first["id"]
    assert worker.enqueue({"n": 5}, idempotencyKey="k") == {**fresh, "duplicate": True}


def test_a_dead_event_still_has_its_key(new_worker):
    worker = new_worker(maxAttempts=1)
    first = worker.enqueue({}, idempotencyKey="k")
    worker.nack(worker.claim())
    sql("UPDATE queue_key SET free_at = free_at - interval '10 days'")
    assert worker.enqueue({}, idempotencyKey="k") == {**first, "duplicate": True}


def test_within_a_batch_the_first_of_a_key_wins(worker):
    events = [{"payload": {"n": n}, "idempotencyKey": key} for n, key in enumerate(["b", "a", "b", None])]
    made = data(worker.api.post(f"{worker.path}/events", {"events": events}), 201)["events"]
    assert [event["duplicate"] for event in made] == [False, False, True, False]
    assert made[2]["id"] == made[0]["id"]
    assert worker.claim_all() == [0, 1, 3]


def test_the_same_key_in_another_queue_is_another_event(new_worker):
    one, other = new_worker(), new_worker()
    one.enqueue({}, idempotencyKey="k")
    assert other.enqueue({}, idempotencyKey="k")["duplicate"] is False


def test_an_enqueued_event_is_found_where_location_says_until_it_is_settled(worker):
    answer = worker.api.post(f"{worker.path}/events", {"payload": {"n": 1}})
    assert data(worker.api.get(answer.headers["Location"]))["payload"] == {"n": 1}
    worker.ack(worker.claim())
    assert worker.api.get(answer.headers["Location"]).status_code == 404


def test_an_empty_batch_is_told_the_whole_range(worker):
    answer = worker.api.post(f"{worker.path}/events", {"events": []})
    assert answer.json()["error"]["details"] == {"field": "events", "min": 1, "max": 1000}
