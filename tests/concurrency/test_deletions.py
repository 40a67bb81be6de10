"""Each verb while the thing it names is being deleted: it is done or finds nothing; and of two deletions one wins."""

import importlib
import json
from functools import partial

import pytest
from django.apps import apps

from apps.access import operations
from apps.cursors.operations import groups
from apps.topics.selectors import resolve
from core.errors import NotFound
from tests.concurrency.sessions import at_once, in_background, session, waiting_for_a_lock
from tests.destinations.world import DESTINATIONS, make, make_topic, publish, pull, sql
from tests.factories import Api, api_key, grants, unique
from tests.patience import until

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 3
PATIENCE = 30
QUEUES, SCHEDULES = "/v1/event-queues", "/v1/schedules"
NOWHERE = "019ac2f0-9d2c-7c1e-8f0a-5b1e2d3c4b5a"


@pytest.fixture
def api(db) -> Api:
    importlib.import_module("apps.channels.migrations.0002_hot").make_kinds(apps, None)
    return Api(api_key())


def made(answer):
    assert answer.status_code < 300, answer.content
    return answer.json()


def destination(api: Api) -> str:
    return f"{DESTINATIONS}/{make(api)['id']}"


def webhook(api: Api) -> str:
    return f"{DESTINATIONS}/{make(api, type='WEBHOOK', webhook={'url': 'https://hooks.example.com/'})['id']}"


def parked(api: Api) -> str:
    """A destination with a dead letter and a batch that is out."""
    thing = make(api)
    publish(api, thing["topic"], 2)
    path = f"{DESTINATIONS}/{thing['id']}"
    lease = pull(api, thing["id"], limit=1).json()["leaseId"]
    made(api.post(f"{path}/leases/{lease}/park"))
    assert pull(api, thing["id"], limit=1).status_code == 200
    return path


def topic(api: Api) -> str:
    return f"/v1/topics/{make_topic(2)}"


def group(api: Api) -> str:
    path = topic(api)
    made(api.post(f"{path}/groups/g/assignments", {"memberId": "m", "ttlSeconds": 30}))
    return f"{path}/groups/g"


def queue(api: Api) -> str:
    name = unique("queue")
    made(api.post(QUEUES, {"name": name, "maxAttempts": 1}))
    made(api.post(f"{QUEUES}/{name}/events", {"payload": {}}))
    return f"{QUEUES}/{name}"


def schedule(api: Api) -> str:
    name = unique("schedule")
    home = queue(api).rpartition("/")[2]
    made(api.post(SCHEDULES, {"queue": home, "name": name, "payload": {}, "everySeconds": 20}))
    return f"{SCHEDULES}/{name}"


def channel(api: Api) -> str:
    path = f"/v1/streams/{unique('job:c')}"
    made(api.post(f"{path}/events", {"type": "x"}))
    return path


RACES = {
    destination: (
        ("GET", "", None),
        ("PATCH", "", {"window": 5}),
        ("PATCH", "", {"filter": {"types": ["a"]}, "maxUnsettled": None}),
        ("POST", "/pause", {"reason": "r"}),
        ("POST", "/resume", {}),
        ("POST", "/seek", {"to": "oldest", "reason": "r"}),
        ("GET", "/lag", None),
        ("GET", "/leases", None),
        ("GET", "/dead-letters", None),
        ("POST", "/pull", None),
    ),
    webhook: (("POST", "/rotate-secret", {}), ("GET", "/attempts", None), ("POST", "/resume", None)),
    topic: (
        ("GET", "", None),
        ("PATCH", "", {"dedupWindowSeconds": 600}),
        ("GET", "/bounds", None),
        ("GET", "/load", None),
        ("GET", "/consume", None),
        ("GET", "/groups", None),
        ("POST", "/expire-cold", {"before": "2026-01-01T00:00:00Z"}),
    ),
    group: (
        ("POST", "/seek", {"to": "head"}),
        ("POST", "/assignments", {"memberId": "n", "ttlSeconds": 30}),
        ("DELETE", "/assignments/m", None),
    ),
    queue: (
        ("GET", "", None),
        ("PATCH", "", {"maxAttempts": 2}),
        ("POST", "/pause", {}),
        ("POST", "/resume", {}),
        ("POST", "/purge", {"deadLetters": True}),
        ("POST", "/events", {"payload": {}, "groupKey": "g", "idempotencyKey": "i"}),
        ("POST", "/claim", {}),
        ("GET", "/events", None),
        ("GET", "/dead-letters", None),
    ),
    schedule: (
        ("GET", "", None),
        ("PATCH", "", {"everySeconds": 40}),
        ("PATCH", "", {"enabled": False}),
        ("POST", "/run-now", None),
        ("GET", "/next", None),
    ),
    channel: (
        ("GET", "", None),
        ("GET", "/snapshot", None),
        ("GET", "/events", None),
        ("POST", "/events", {"type": "y", "documents": {"job": {}}}),
        ("POST", "/logs", {"lines": [{"message": "m"}]}),
    ),
}


def race(api: Api, path: str, method: str, tail: str, body, *refusals: int) -> None:
    def call(verb: str, where: str, sent=None) -> int:
        return Api(api.token).send(verb, where, sent).status_code

    first, second, *answers = at_once(
        *[partial(call, "DELETE", path)] * 2, *[partial(call, method, f"{path}{tail}", body)] * 2
    )
    # A group or a channel comes again with the next write: then the second deletion may have found it.
    again = [[204, 204]] if method == "POST" and "/event-" not in path else []
    assert sorted((first, second)) in ([200, 404], [204, 404], *again), (method, tail)
    assert all(answer < 300 or answer in (404, 410, *refusals) for answer in answers), (method, tail, answers)


CALLS = [(thing, *call) for thing, calls in RACES.items() for call in calls]


@pytest.mark.parametrize(("thing", "method", "tail", "body"), CALLS, ids=lambda value: getattr(value, "__name__", None))
def test_whoever_comes_while_it_is_deleted_is_served_or_told_that_it_is_gone(api, thing, method, tail, body):
    for _ in range(ROUNDS):
        race(api, thing(api), method, tail, body)


def test_a_dead_letter_or_a_lease_acted_on_while_its_destination_ends_leaves_nothing_behind(api):
    for verb in ("redrive", "discard", "expire", "extend", "park"):
        path = parked(api)
        items = "dead-letters" if verb in ("redrive", "discard") else "leases"
        one = api.get(f"{path}/{items}").json()["items"][0]
        race(api, path, "POST", f"/{items}/{one.get('leaseId') or one['id']}/{verb}", {}, 409)
        assert sql("SELECT count(*) FROM lease WHERE state <> 'settled'") == [(0,)]
        assert sql("SELECT count(*) FROM dead_letter") == [(0,)]


@pytest.mark.parametrize(
    ("thing", "table", "method", "tail", "body"),
    [
        (destination, "destination", "PATCH", "", {"window": 5}),
        (destination, "destination", "DELETE", "", None),
        (webhook, "destination", "POST", "/rotate-secret", {}),
        (topic, "topic", "PATCH", "", {"dedupWindowSeconds": 600}),
        (topic, "topic", "DELETE", "", None),
        (schedule, "schedule", "PATCH", "", {"enabled": False}),
        (schedule, "schedule", "POST", "/run-now", None),
        (schedule, "schedule", "DELETE", "", None),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_row_that_goes_while_a_call_waits_for_its_lock_is_a_thing_that_does_not_exist(
    api, thing, table, method, tail, body
):
    path = thing(api)
    with session() as other:
        if table == "destination":
            other.execute("DELETE FROM webhook_secret")
        other.execute(f"DELETE FROM {table}")
        with in_background(lambda: Api(api.token).send(method, f"{path}{tail}", body)) as answer:
            until(waiting_for_a_lock, PATIENCE)
            other.commit()
            assert answer.result().status_code == 404, answer.result().content


def test_a_topic_that_is_read_stays_in_use_however_many_delete_it(api):
    thing = make(api)
    path = f"/v1/topics/{thing['topic']}"
    answers = at_once(*[lambda: Api(api.token).delete(path)] * 3)
    assert {(answer.status_code, answer.json()["error"]["code"]) for answer in answers} == {(409, "TOPIC_IN_USE")}


def test_a_group_that_goes_between_its_making_and_its_first_commit_is_a_thing_that_does_not_exist(api, monkeypatch):
    """What made it is known to exist, and gone when it is looked up."""
    path = group(api)
    found = resolve.topic(path.split("/")[3])
    monkeypatch.setattr(groups, "_consumer_id", lambda topic, name: None)
    with pytest.raises(NotFound):
        groups.group_for_use(found, "g")


def test_a_client_that_is_deleted_twice_or_rotated_afterwards_is_not_found(api):
    client, _ = operations.create_oauth_client(unique("client"), grants("read:events"))
    first, second = at_once(*[lambda: operations.delete_oauth_client(client)] * 2)
    assert sorted((first is None, second is None)) == [False, True]
    assert isinstance(first or second, NotFound)
    with pytest.raises(NotFound):
        operations.rotate_oauth_secret(client)


def test_a_grant_revoked_by_several_at_once_is_revoked(api):
    grant = made(api.post("/v1/grants", {"channels": ["job:1", "job:2"], "subject": "ana", "ttlSeconds": 60}))
    answers = at_once(
        *[lambda: Api(api.token).delete(f"/v1/grants/{grant['id']}")] * 3,
        lambda: Api(api.token).post("/v1/grants/revoke", {"subject": "ana"}),
    )
    assert [answer.status_code for answer in answers] == [204, 204, 204, 200]
    assert json.loads(answers[3].content)["revoked"] in (0, 1)
    assert api.delete(f"/v1/grants/{NOWHERE}").status_code == 404
