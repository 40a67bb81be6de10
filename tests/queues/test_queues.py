"""Queues themselves: made, listed, changed, purged, deleted; who may, and what is recorded."""

import pytest

from apps.access.models import Audit
from apps.queues.operations import sweep
from tests.factories import unique
from tests.queues.conftest import Worker, data, execute


def test_a_queue_is_made_with_its_defaults_and_found_by_name_and_id(api):
    answer = api.post("/v1/event-queues", {"name": "emails"})
    made = data(answer, 201)
    assert answer.headers["Location"] == f"/v1/event-queues/{made['id']}"
    assert {"name": "emails", "maxAttempts": 10, "defaultLeaseSeconds": 60, "pausedAt": None}.items() <= made.items()
    assert {"id", "createdAt", "updatedAt"} <= made.keys()
    for key in ("emails", made["id"]):
        assert data(api.get(f"/v1/event-queues/{key}")) == made
        assert data(api.post(f"/v1/event-queues/{key}/claim", {})) is None


def test_a_name_is_taken_once_and_free_after_deletion(api):
    data(api.post("/v1/event-queues", {"name": "emails"}), 201)
    answer = api.post("/v1/event-queues", {"name": "emails"})
    assert (answer.status_code, answer.json()["error"]["code"], answer.json()["code"]) == (409, "NAME_TAKEN", 409)
    data(api.delete("/v1/event-queues/emails"))
    assert api.get("/v1/event-queues/emails").status_code == 404
    data(api.post("/v1/event-queues", {"name": "emails"}), 201)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a b", "é", "x" * 201, "a\x00", "019ad0a6-6a4c-7c1e-b0f3-5d8a0c6f2b11", 7, None]
)
def test_a_name_that_could_not_be_used_is_refused(api, name):
    answer = api.post("/v1/event-queues", {"name": name})
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["field"] == "name"


@pytest.mark.parametrize("name", ["a.b", "new", "json", "x" * 200, "a:b-c_D", "events", "claim"])
def test_whatever_can_be_made_can_be_used_changed_and_deleted(api, name):
    data(api.post("/v1/event-queues", {"name": name}), 201)
    worker = Worker(api, name)
    worker.enqueue()
    worker.ack(worker.claim())
    assert data(api.patch(worker.path, {"maxAttempts": 2}))["maxAttempts"] == 2
    assert data(api.delete(worker.path)) is None


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("maxAttempts", [0, 1001, -1, True, "5", 1.0, None]),
        ("defaultLeaseSeconds", [0, 43_201]),
        ("retryMaxSeconds", [-1, 2_592_001]),
        ("nope", [1]),
    ],
)
def test_settings_out_of_range_are_refused(api, worker, field, bad):
    for value in bad:
        for answer in (
            api.patch(worker.path, {field: value}),
            api.post("/v1/event-queues", {"name": unique("q"), field: value}),
        ):
            assert answer.status_code == 400
            assert answer.json()["error"]["details"]["field"] == field
    assert api.patch(worker.path, {"retryFirstSeconds": 10, "retryMaxSeconds": 5}).status_code == 400


def test_a_change_touches_only_what_it_names(worker):
    before = worker.get()
    after = data(worker.api.patch(worker.path, {"defaultLeaseSeconds": 90}))
    assert {**before, "defaultLeaseSeconds": 90, "updatedAt": after["updatedAt"]} == after


def test_lists_are_paged_by_name_filtered_and_strict(api):
    for name in ("b", "c", "a", "other"):
        data(api.post("/v1/event-queues", {"name": name}), 201)
    data(api.post("/v1/event-queues/c/pause"))

    def names(query=""):
        return [item["name"] for item in data(api.get(f"/v1/event-queues{query}"))["items"]]

    assert names() == ["a", "b", "c", "other"]
    assert names("?name=other") == ["other"]
    assert names("?name=oth") == []
    assert names("?paused=true") == ["c"]
    assert names("?paused=false&limit=2") == ["a", "b"]
    cursor = data(api.get("/v1/event-queues?limit=3"))["nextCursor"]
    assert names(f"?limit=3&cursor={cursor}") == ["other"]
    for query in (
        "?paused=maybe",
        "?paused=",
        "?nme=a",
        "?limit=0",
        "?limit=201",
        "?limit=x",
        "?cursor=x",
        "?name=a&name=b",
        "?name=%00",
    ):
        assert api.get(f"/v1/event-queues{query}").status_code == 400, query


def test_a_purge_removes_everything_but_the_dead_letters_and_later_events_flow(new_worker):
    worker = new_worker(maxAttempts=1)
    worker.enqueue({"n": 0})
    worker.nack(worker.claim())
    for n in range(1, 4):
        worker.enqueue({"n": n}, groupKey="k")
    worker.enqueue({"n": 4}, delaySeconds=60)
    held = worker.claim()
    assert worker.act("purge", reason="test data")["name"] == worker.queue
    assert worker.call("ack", held).status_code == 409
    worker.enqueue({"n": 5}, groupKey="k")
    worker.fall_due()
    assert worker.claim_all() == [5]
    assert len(worker.get("/dead-letters")["items"]) == 1
    worker.act("purge", deadLetters=True)
    assert worker.get("/events")["items"] == []


def test_a_purge_too_large_for_one_call_hides_the_rest_at_once_and_is_finished_by_the_sweep(worker, monkeypatch):
    worker.enqueue({"n": 0}, groupKey="k")
    worker.enqueue({"n": 1}, groupKey="k")
    worker.enqueue({"n": 2}, delaySeconds=60)
    monkeypatch.setattr(sweep, "BATCHES", 0)
    monkeypatch.setattr(sweep.purge, "__defaults__", (0,))
    worker.act("purge")
    assert execute("SELECT count(*) FROM queue_event") == [(3,)]
    worker.fall_due()
    worker.enqueue({"n": 3}, groupKey="k")
    worker.enqueue({"n": 4})
    assert worker.claim_all() == [4]
    monkeypatch.setattr(sweep.purge, "__defaults__", (100,))
    assert sweep.finish_purges() == 3
    assert worker.claim_all() == [3]
    assert sweep.finish_purges() == 0
    assert execute("SELECT purged_to > 0 FROM queue WHERE name = %s", worker.queue) == [(True,)]
    execute("UPDATE queue SET purged_at = purged_at - interval '61 seconds'")
    sweep.finish_purges()
    assert execute("SELECT purged_to FROM queue WHERE name = %s", worker.queue) == [(0,)]


def test_what_a_deleted_queue_held_is_removed_by_the_sweep(worker):
    for n in range(3):
        worker.enqueue({"n": n}, groupKey="k", idempotencyKey=str(n))
    data(worker.api.delete(worker.path))
    assert sweep.remove_deleted() > 0
    for table in ("queue_event", "queue_group", "queue_key"):
        assert execute(f"SELECT count(*) FROM {table}") == [(0,)]
    assert sweep.remove_deleted() == 0
    execute("UPDATE queue SET deleted_at = deleted_at - interval '61 seconds'")
    sweep.remove_deleted()
    assert execute("SELECT count(*) FROM queue") == [(0,)]


def test_every_operators_change_is_in_the_audit_trail_with_its_reason(api):
    data(api.post("/v1/event-queues", {"name": "q"}), 201)
    data(api.patch("/v1/event-queues/q", {"maxAttempts": 3}))
    for verb in ("pause", "resume", "purge"):
        data(api.post(f"/v1/event-queues/q/{verb}", {"reason": f"why {verb}\x00"}))
    data(api.delete("/v1/event-queues/q"))
    trail = list(Audit.objects.filter(object_kind="queue").order_by("id").values_list("verb", "object_name", "reason"))
    assert trail == [
        ("create", "q", ""),
        ("change", "q", ""),
        ("pause", "q", "why pause\ufffd"),
        ("resume", "q", "why resume\ufffd"),
        ("purge", "q", "why purge\ufffd"),
        ("delete", "q", ""),
    ]
    change = Audit.objects.get(verb="change")
    assert (change.before["max_attempts"], change.after["max_attempts"]) == (10, 3)


CALLS = [
    ("read:queues", "GET", "", None),
    ("manage:queues", "PATCH", "", {"maxAttempts": 3}),
    ("manage:queues", "POST", "/pause", {}),
    ("manage:queues", "POST", "/resume", {}),
    ("manage:queues", "POST", "/purge", {}),
    ("write:queues", "POST", "/events", {"payload": {}}),
    ("read:queues", "POST", "/claim", {}),
    ("read:queues", "GET", "/events", None),
    ("manage:queues", "GET", "/dead-letters", None),
]


@pytest.mark.parametrize(("scope", "method", "tail", "body"), CALLS)
def test_each_verb_needs_its_scope_and_its_pattern_and_hides_the_rest(api, api_with, anyone, scope, method, tail, body):
    for name in ("orders.new", "billing.new"):
        data(api.post("/v1/event-queues", {"name": name}), 201)
    others = [other for other in ("read:queues", "write:queues", "manage:queues") if other != scope]
    ids = {name: data(api.get(f"/v1/event-queues/{name}"))["id"] for name in ("orders.new", "billing.new")}

    def call(client, queue):
        return client.send(method, f"/v1/event-queues/{queue}{tail}", body).status_code

    narrowed = api_with(f"{scope} orders.*")
    assert call(narrowed, "orders.new") in (200, 201)
    assert call(narrowed, ids["orders.new"]) in (200, 201)
    assert call(narrowed, "billing.new") == 404
    assert call(narrowed, ids["billing.new"]) == 404
    assert call(api_with(*others), "orders.new") == 403
    assert call(anyone, "orders.new") == 401


def test_an_events_verbs_need_the_pattern_of_its_queue(worker, api_with):
    worker.enqueue()
    claim = worker.claim()
    outside = Worker(api_with("read:queues other.*"), worker.queue)
    for verb, fields in (("heartbeat", {"leaseSeconds": 5}), ("ack", {}), ("nack", {})):
        assert outside.call(verb, claim, **fields).status_code == 404
        assert outside.call(verb, {**claim, "leaseToken": "x"}, **fields).status_code == 404
    assert worker.ack(claim) == {"status": "acked"}


def test_a_list_holds_matching_names_only(api, api_with):
    for name in ("orders.new", "billing.new"):
        data(api.post("/v1/event-queues", {"name": name}), 201)
    seen = data(api_with("read:queues orders.*").get("/v1/event-queues"))["items"]
    assert [item["name"] for item in seen] == ["orders.new"]
    assert api_with("manage:queues orders.*").post("/v1/event-queues", {"name": "billing.x"}).status_code == 404


@pytest.mark.parametrize(
    "path", ["/v1/event-queues/none", "/v1/event-queues/none/nothing", "/v1/schedules/none", "/v1/events/x/nothing"]
)
def test_errors_have_the_envelope_and_the_common_shape(api, path):
    answer = api.get(path)
    body = answer.json()
    assert answer.status_code in (404, 405)
    assert (body["code"], body["data"]) == (answer.status_code, None)
    assert body["message"] == body["error"]["message"]
    assert body["requestId"] == answer.headers["X-Request-Id"]
