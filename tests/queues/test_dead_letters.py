"""Dead letters: seen without change, redriven once with a fresh budget, discarded for good."""

from uuid import uuid4

import pytest

from apps.access.models import Audit
from tests.queues.conftest import data, execute


@pytest.fixture
def dead(new_worker):
    worker = new_worker(maxAttempts=2)
    worker.enqueue({"n": 1}, priority=3, idempotencyKey="i")
    for _ in range(2):
        claim = worker.claim(workerId="w1")
        worker.nack(claim, error="boom", retryDelaySeconds=0)
    return worker, claim["event"]["id"]


def test_it_is_listed_with_what_happened_and_looking_changes_nothing(dead):
    worker, event = dead
    for _ in range(3):
        (item,) = worker.get("/dead-letters")["items"]
    assert (item["id"], item["state"], item["attemptCount"], item["error"]) == (event, "dead", 2, "boom")
    assert item["payload"] == {"n": 1}
    assert item["diedAt"]


def test_it_is_redriven_as_a_new_event_with_all_attempts(dead):
    worker, event = dead
    new = worker.act(f"dead-letters/{event}/redrive", reason="fixed")
    assert new["causedBy"] == event
    assert new["id"] != event
    claim = worker.claim()
    assert (claim["event"]["id"], claim["event"]["attemptCount"], claim["event"]["payload"]) == (new["id"], 1, {"n": 1})
    assert worker.get("/dead-letters")["items"] == []
    assert worker.get("/events")["items"][0]["causedBy"] == event
    assert worker.nack(claim, retryDelaySeconds=0)["status"] == "waiting"


def test_it_is_redriven_once(dead):
    worker, event = dead
    worker.act(f"dead-letters/{event}/redrive")
    assert worker.api.post(f"{worker.path}/dead-letters/{event}/redrive").status_code == 404
    assert execute("SELECT count(*) FROM queue_event") == [(1,)]


def test_only_a_dead_event_of_this_queue_is_redriven_or_discarded(dead, new_worker):
    worker, event = dead
    living, other = worker.enqueue()["id"], new_worker()
    worker.ack(worker.claim())
    for queue, wrong in ((worker, living), (worker, str(uuid4())), (other, event), (worker, "no-uuid")):
        for verb in ("redrive", "discard"):
            assert queue.api.post(f"{queue.path}/dead-letters/{wrong}/{verb}").status_code == 404


def test_it_is_discarded_for_good_and_its_key_is_taken_for_a_day_more(dead):
    worker, event = dead
    gone = worker.act(f"dead-letters/{event}/discard", reason="test")
    assert (gone["id"], gone["state"]) == (str(event), "discarded")
    assert worker.get("/dead-letters")["items"] == []
    assert worker.enqueue({}, idempotencyKey="i")["duplicate"] is True
    assert execute("SELECT free_at > statement_timestamp() FROM queue_key") == [(True,)]


def test_what_was_done_is_in_the_audit_trail(dead):
    worker, event = dead
    worker.act(f"dead-letters/{event}/redrive", reason="fixed")
    entry = Audit.objects.get(verb="redrive")
    assert (entry.object_kind, entry.object_name, entry.object_id, entry.reason) == (
        "queue-event",
        worker.queue,
        event,
        "fixed",
    )


def test_the_list_pages_from_the_latest(new_worker):
    worker = new_worker(maxAttempts=1)
    for n in range(5):
        worker.enqueue({"n": n})
        worker.nack(worker.claim())
    execute("UPDATE queue_event SET died_at = '2026-01-01' WHERE n IN (SELECT n FROM queue_event ORDER BY n LIMIT 3)")
    seen, cursor = [], ""
    while True:
        page = worker.get(f"/dead-letters?limit=2{cursor}")
        seen += [item["payload"]["n"] for item in page["items"]]
        if page["nextCursor"] is None:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert seen == [4, 3, 2, 1, 0]
    for query in ("limit=0", "limit=201", "limit=1&limit=2", "cursor=xx", "lim=1", "cursor="):
        assert worker.api.get(f"{worker.path}/dead-letters?{query}").status_code == 400, query


def test_events_are_browsed_by_state(new_worker):
    worker = new_worker(maxAttempts=1)
    for n in range(3):
        worker.enqueue({"n": n}, groupKey="k")
    worker.enqueue({"n": 3}, delaySeconds=60)
    worker.nack(worker.claim())
    worker.claim(workerId="w1")
    by_state = {state: [item["payload"]["n"] for item in worker.get(f"/events?state={state}")["items"]]
                for state in ("ready", "waiting", "leased", "blocked", "dead")}  # fmt: skip
    assert by_state == {"ready": [], "waiting": [3], "leased": [1], "blocked": [2], "dead": [0]}
    assert [item["payload"]["n"] for item in worker.get("/events")["items"]] == [0, 1, 2, 3]
    first = worker.get("/events?limit=3")
    assert [item["payload"]["n"] for item in worker.get(f"/events?limit=3&cursor={first['nextCursor']}")["items"]] == [3]
    assert worker.get("/events?state=leased")["items"][0]["workerId"] == "w1"
    for query in ("state=", "state=new", "state=ready&state=dead", "stat=ready"):
        assert worker.api.get(f"{worker.path}/events?{query}").status_code == 400, query
    assert data(worker.api.get(f"{worker.path}/events?state=dead"))["items"][0]["state"] == "dead"
