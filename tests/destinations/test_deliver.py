import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.cursors.models import Consumer
from apps.destinations.selectors import find
from core.ids import uuid7
from core.waits import ENVIRON_KEY
from tests.destinations.world import DESTINATIONS, acknowledge, age_leases, make, make_topic, publish, pull, sql

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_remembered():
    find.forget_found()


def ids(batch):
    return [event["id"] for event in batch["events"]]


def test_a_batch_is_pulled_acknowledged_and_committed(api):
    thing = make(api)
    publish(api, thing["topic"], 3)
    answer = pull(api, thing["name"], limit=2, workerId="worker-1")
    batch = answer.json()
    assert answer.status_code == 200
    assert set(batch) == {"leaseId", "generation", "attempt", "expiresAt", "events"}
    assert (batch["generation"], batch["attempt"], ids(batch)) == (0, 1, ["k-0", "k-1"])
    assert [event["sequence"] for event in batch["events"]] == [f"000.{offset:020d}" for offset in (0, 1)]
    done = acknowledge(api, thing["id"], batch)
    assert (done.status_code, done.json()) == (200, {"status": "committed", "committed": "000.00000000000000000001"})


def test_an_event_is_handed_out_byte_for_byte_as_it_was_sent(api):
    thing = make(api)
    event = (
        '{"specversion":"1.0","id":"e","source":"/s","type":"t","data":{"n":12345678901234567890123,"n":1e2,"é":"\\u0000"}}'
    )
    path = f"/v1/topics/{thing['topic']}/events"
    assert api.post(path, event.encode(), content_type="application/cloudevents+json").status_code == 202
    answer = pull(api, thing["name"]).content.decode()
    assert event[:-1] + ',"sequence":"000.00000000000000000000"}' in answer
    assert json.loads(answer)["events"][0]["id"] == "e"


def test_caught_up_is_204_without_a_body(api):
    answer = pull(api, make(api)["name"])
    assert (answer.status_code, answer.content) == (204, b"")


def test_the_same_worker_gets_literally_the_same_batch_and_another_one_the_next(api):
    thing = make(api)
    publish(api, thing["topic"], 4)
    first = pull(api, thing["name"], limit=2, workerId="a").json()
    again = pull(api, thing["name"], limit=1, workerId="a").json()
    other = pull(api, thing["name"], limit=2, workerId="b").json()
    assert {**first, "expiresAt": ""} == {**again, "expiresAt": ""}
    assert again["expiresAt"] > first["expiresAt"]
    assert ids(other) == ["k-2", "k-3"]


def test_a_batch_that_ran_out_comes_again_to_whoever_pulls_and_the_late_acknowledgement_is_stale(api):
    thing = make(api)
    publish(api, thing["topic"], 2)
    first = pull(api, thing["name"], workerId="a", visibility=60).json()
    age_leases(61)
    second = pull(api, thing["name"], workerId="b").json()
    assert (second["leaseId"], second["generation"], second["attempt"]) == (first["leaseId"], 1, 2)
    assert acknowledge(api, thing["name"], first).json() == {"status": "stale", "committed": None}
    extended = api.post(
        f"{DESTINATIONS}/{thing['name']}/extend", {"leaseId": first["leaseId"], "generation": 0, "visibility": 60}
    )
    assert (extended.status_code, extended.json()["error"]["code"]) == (409, "LEASE_LOST")
    assert acknowledge(api, thing["name"], second).json()["status"] == "committed"
    assert acknowledge(api, thing["name"], second).json()["status"] == "committed"
    assert acknowledge(api, thing["name"], second, "failed").json()["status"] == "stale"


def test_a_failed_batch_is_requeued_whole_or_only_what_failed(api):
    thing = make(api)
    publish(api, thing["topic"], 3)
    batch = pull(api, thing["name"]).json()
    failed = [batch["events"][1]["sequence"]]
    answer = acknowledge(api, thing["name"], batch, "failed", error="no\u0000way", failedSequences=failed)
    assert answer.json() == {"status": "requeued", "committed": "000.00000000000000000000"}
    assert sql("SELECT error FROM lease") == [("no\ufffdway",)]
    again = pull(api, thing["name"]).json()
    assert (again["leaseId"], again["attempt"], ids(again)) == (batch["leaseId"], 2, ["k-1"])


@pytest.mark.parametrize("delay", [-1, 2_592_001, "soon", 1.5, 10**18])
def test_a_delay_out_of_bounds_is_refused_and_the_batch_stays_leased(api, delay):
    thing = make(api)
    publish(api, thing["topic"], 1)
    batch = pull(api, thing["name"]).json()
    assert acknowledge(api, thing["name"], batch, "failed", retryDelaySeconds=delay).status_code == 400
    assert acknowledge(api, thing["name"], batch).json()["status"] == "committed"


def test_a_paused_one_hands_out_nothing_but_takes_back(api):
    thing = make(api)
    publish(api, thing["topic"], 4)
    batch = pull(api, thing["name"], limit=2).json()
    path = f"{DESTINATIONS}/{thing['name']}"
    assert api.post(f"{path}/pause", {"reason": "x"}).json()["state"] == "paused"
    refused = pull(api, thing["name"], wait=30)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "DESTINATION_PAUSED")
    assert int(refused.headers["Retry-After"]) >= 1
    assert ENVIRON_KEY not in refused.wsgi_request.META
    extend = {"leaseId": batch["leaseId"], "generation": 0, "visibility": 600}
    assert api.post(f"{path}/extend", extend).json()["expiresAt"] > batch["expiresAt"]
    assert acknowledge(api, thing["name"], batch).json()["status"] == "committed"
    assert api.post(f"{path}/resume").json()["state"] == "active"
    assert api.post(f"{path}/resume").status_code == 200
    assert pull(api, thing["name"]).status_code == 200


def test_a_pause_ends_by_itself(api):
    thing = make(api)
    path = f"{DESTINATIONS}/{thing['name']}"
    paused = api.post(f"{path}/pause", {"resumeAt": "2099-01-01T00:00:00Z", "reason": "deploy"}).json()
    assert (paused["state"], paused["pauseReason"], paused["resumeAt"]) == (
        "paused",
        "deploy",
        "2099-01-01T00:00:00.000000Z",
    )
    assert paused["pausedAt"] == paused["updatedAt"]
    Consumer.objects.update(resume_at="2020-01-01T00:00:00Z")
    shown = api.get(path).json()
    assert (shown["state"], shown["pausedAt"], shown["pauseReason"], shown["resumeAt"]) == ("active", None, None, None)
    assert pull(api, thing["name"]).status_code == 204


def test_a_pause_that_would_be_over_already_is_refused(api):
    thing = make(api)
    path = f"{DESTINATIONS}/{thing['name']}"
    refused = api.post(f"{path}/pause", {"resumeAt": "2020-01-01T00:00:00Z"})
    assert (refused.status_code, refused.json()["error"]["details"]["field"]) == (400, "resumeAt")
    assert api.get(path).json()["state"] == "active"


def test_a_full_window_says_what_is_out(api):
    thing = make(api, window=2, maxUnsettled=2)
    publish(api, thing["topic"], 4)
    pull(api, thing["name"], workerId="a")
    refused = pull(api, thing["name"], workerId="b")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "WINDOW_FULL")
    assert refused.json()["error"]["details"] == {"leased": 2, "waiting": 0, "window": 2, "maxUnsettled": 2}
    assert int(refused.headers["Retry-After"]) >= 1


@pytest.mark.parametrize(
    "query",
    [
        "limit=0", "limit=101", "visibility=0", "visibility=601", "wait=-1", "wait=31", "workerId=", "limit=", "limit=1.0",
        "limit=%2B1", "limit=1&limit=2", "workerid=a", "workerId=" + "x" * 201, "workerId=a%00b", "workerId=a%0Ab",
        "workerId=%E2%80%8F", "workerId=%E2%80%8D", "workerId=%ff",
    ],
)  # fmt: skip
def test_a_pull_out_of_bounds_is_refused_by_name(api, query):
    refused = api.post(f"{DESTINATIONS}/{make(api)['name']}/pull?{query}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "INVALID_PARAMETER")


@pytest.mark.parametrize("worker", ["x", "wörker 1", "👩‍👩‍👧", "😀" * 200])
def test_a_worker_may_have_any_name_that_can_be_read(api, worker):
    thing = make(api)
    publish(api, thing["topic"], 1)
    assert pull(api, thing["name"], workerId=worker).status_code == 200
    assert api.get(f"{DESTINATIONS}/{thing['name']}/leases").json()["items"][0]["workerId"] == worker


def test_a_pull_takes_no_body(api):
    assert api.post(f"{DESTINATIONS}/{make(api)['name']}/pull", {}).status_code == 400


def test_only_an_empty_pull_waits_and_says_for_what(api):
    thing = make(api)
    topic, consumer = sql("SELECT topic_id, consumer_id FROM destination WHERE name = %s", thing["name"])[0]
    assert ENVIRON_KEY not in pull(api, thing["name"]).wsgi_request.META
    wait = pull(api, thing["name"], wait=20).wsgi_request.META[ENVIRON_KEY]
    assert wait.keys == (f"topic:{topic}", f"consumer:{consumer}")
    assert (wait.seconds, wait.due_in) == (20, None)
    publish(api, thing["topic"], 1)
    batch = pull(api, thing["name"], wait=20)
    assert ENVIRON_KEY not in batch.wsgi_request.META
    acknowledge(api, thing["name"], batch.json(), "failed", retryDelaySeconds=300)
    assert 200 < pull(api, thing["name"], wait=20).wsgi_request.META[ENVIRON_KEY].due_in <= 300


def test_a_filter_that_takes_nothing_moves_on_and_reaches_the_head(api):
    thing = make(api, filter={"types": ["order.*"]})
    publish(api, thing["topic"], 3, kind="invoice.sent")
    publish(api, thing["topic"], 1, kind="order.placed", first=9)
    batch = pull(api, thing["name"]).json()
    assert ids(batch) == ["k-9"]
    assert acknowledge(api, thing["name"], batch).json()["committed"] == "000.00000000000000000003"


@pytest.mark.parametrize(
    "body",
    [
        {"generation": 0, "status": "ok"},
        {"leaseId": "x", "generation": 0, "status": "ok"},
        {"leaseId": str(uuid7()), "generation": -1, "status": "ok"},
        {"leaseId": str(uuid7()), "generation": True, "status": "ok"},
        {"leaseId": str(uuid7()), "generation": 2**31, "status": "ok"},
        {"leaseId": str(uuid7()), "generation": 0, "status": "done"},
        {"leaseId": str(uuid7()), "generation": 0, "status": "ok", "error": "why"},
        {"leaseId": str(uuid7()), "generation": 0, "status": "failed", "error": 1},
        {"leaseId": str(uuid7()), "generation": 0, "status": "failed", "failedSequences": []},
        {"leaseId": str(uuid7()), "generation": 0, "status": "failed", "failedSequences": ["0"]},
        {"leaseId": str(uuid7()), "generation": 0, "status": "ok", "ok": True},
    ],
)
def test_an_acknowledgement_that_is_not_understood_is_a_400(api, body):
    assert api.post(f"{DESTINATIONS}/{make(api)['name']}/acknowledge", body).status_code == 400


def test_a_lease_nobody_had_or_that_is_anothers_is_a_404(api):
    thing, other = make(api), make(api)
    publish(api, thing["topic"], 1)
    batch = pull(api, thing["name"]).json()
    assert acknowledge(api, thing["name"], {"leaseId": str(uuid7()), "generation": 0}).status_code == 404
    assert acknowledge(api, other["name"], batch).status_code == 404


def test_other_types_cannot_be_pulled_from(api):
    thing = make(api)
    sql("UPDATE destination SET type = 'QUEUE' WHERE name = %s", thing["name"])
    reference = {"leaseId": str(uuid7()), "generation": 0}
    calls = [("pull", None), ("acknowledge", {**reference, "status": "ok"}), ("extend", {**reference, "visibility": 1})]
    for verb, body in calls:
        refused = api.post(f"{DESTINATIONS}/{thing['name']}/{verb}", body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "NOT_A_DURABLE_CONSUMER")


@pytest.mark.parametrize("reference", ["nobody", "01a22809-0000-7000-8000-000000000000", "a%00b", "%ff", "x" * 300])
def test_one_that_does_not_exist_is_a_404(api, reference):
    assert api.post(f"{DESTINATIONS}/{reference}/pull").status_code == 404
    assert api.get(f"{DESTINATIONS}/{reference}").status_code == 404


def test_one_deleted_behind_the_memory_of_this_process_is_a_404_and_its_name_is_free(api):
    thing = make(api)
    assert pull(api, thing["name"]).status_code == 204
    row = sql("SELECT topic_id, consumer_id FROM destination WHERE name = %s", thing["name"])[0]
    remembered = dict(find._cache)
    assert api.delete(f"{DESTINATIONS}/{thing['name']}").status_code == 204
    find._cache.update(remembered)
    assert pull(api, thing["name"]).status_code == 404
    again = make(api, name=thing["name"], topic=thing["topic"])
    find.forget_found()
    publish(api, thing["topic"], 1)
    assert pull(api, again["name"]).status_code == 200
    assert sql("SELECT count(*) FROM consumer WHERE topic_id = %s AND id = %s", *row) == [(0,)]


def test_a_warm_pull_and_acknowledgement_ask_the_orm_nothing(api):
    thing = make(api, topic=make_topic())
    publish(api, thing["topic"], 2)
    acknowledge(api, thing["name"], pull(api, thing["name"], limit=1).json())
    with CaptureQueriesContext(connection) as queries:
        acknowledge(api, thing["name"], pull(api, thing["name"], limit=1).json())
    assert [query["sql"] for query in queries.captured_queries] == []


def test_leases_are_listed_in_order_and_paged(api):
    thing = make(api)
    publish(api, thing["topic"], 6)
    batches = [pull(api, thing["name"], limit=2, workerId=worker).json() for worker in "abc"]
    path = f"{DESTINATIONS}/{thing['name']}/leases"
    first = api.get(f"{path}?limit=2").json()
    rest = api.get(f"{path}?limit=2&cursor={first['nextCursor']}").json()
    rows = first["items"] + rest["items"]
    assert [row["leaseId"] for row in rows] == [batch["leaseId"] for batch in batches]
    assert rest["nextCursor"] is None
    assert {"workerId": "b", "events": 2, "state": "leased", "attempt": 1}.items() <= rows[1].items()
    assert (rows[1]["first"], rows[1]["last"]) == ("000.00000000000000000002", "000.00000000000000000003")
    assert api.get(f"{path}?cursor=bm8").status_code == 400


def test_an_operator_expires_a_lease_and_the_worker_is_told(api):
    thing = make(api)
    publish(api, thing["topic"], 1)
    batch = pull(api, thing["name"], workerId="a").json()
    path = f"{DESTINATIONS}/{thing['name']}/leases/{batch['leaseId']}"
    expired = api.post(f"{path}/expire", {"reason": "stuck"})
    assert (expired.status_code, expired.json()["leaseId"], expired.json()["state"]) == (200, batch["leaseId"], "waiting")
    assert api.post(f"{path}/extend").json()["error"]["code"] == "LEASE_LOST"
    assert acknowledge(api, thing["name"], batch).json()["status"] == "stale"
    assert pull(api, thing["name"], workerId="b").json()["attempt"] == 2
    assert sql("SELECT verb, object_id, object_name, reason FROM access_audit WHERE object_kind = 'lease'") == [
        ("expire", batch["leaseId"], thing["name"], "stuck")
    ]


def test_an_operator_extends_a_lease_whatever_its_generation(api):
    thing = make(api)
    publish(api, thing["topic"], 1)
    batch = pull(api, thing["name"], visibility=100).json()
    path = f"{DESTINATIONS}/{thing['name']}/leases"
    until = api.post(f"{path}/{batch['leaseId']}/extend", {"visibility": 600}).json()["expiresAt"]
    assert until > batch["expiresAt"]
    assert api.get(path).json()["items"][0]["expiresAt"] == until
    assert api.post(f"{path}/{uuid7()}/extend").status_code == 404
    assert api.post(f"{path}/{uuid7()}/expire").status_code == 404
    assert api.post(f"{path}/nonsense/expire").status_code == 404


def test_the_empty_key_of_a_record_is_no_empty_attribute(api):
    thing = make(api)
    for key in ("", "k"):
        api.post(f"/v1/topics/{thing['topic']}/records", [{"partitionKey": key, "payload": "p"}])
    first, second = pull(api, thing["name"]).json()["events"]
    assert (first["data"], second["data"], second["partitionkey"], second["subject"]) == ("p", "p", "k", "k")
    assert not {"partitionkey", "subject"} & first.keys() and "" not in first.values()


@pytest.mark.parametrize(("body", "field"), [('{"brkx": 1, "y": 2}', "brkx"), ("{}", ""), ("[1]", ""), ("{", ""), ("x", "")])
def test_a_body_where_none_is_read_is_refused_by_the_name_of_its_first_field(api, body, field):
    name = make(api)["name"]
    for call in ("pull", "test"):
        error = api.post(f"{DESTINATIONS}/{name}/{call}", body).json()["error"]
        assert (error["code"], error["details"]["field"]) == ("INVALID_FIELD", field)
