"""Moving readers: what is next, what becomes of leases in the way, and the way back."""

import pytest

from apps.access.models import Audit
from apps.destinations.selectors.find import forget_found
from apps.topics.selectors import resolve
from core.sequence import sequence

pytestmark = pytest.mark.django_db

ONE = "/v1/event-destinations/d"


@pytest.fixture
def world(api):
    forget_found()  # a destination of this name in a test before
    resolve.forget()
    api.post("/v1/topics", {"name": "t", "partitions": 2})
    for key, count in (("a", 6), ("b", 3)):
        api.post("/v1/topics/t/records", [{"partitionKey": key, "payload": f"{key}{n}"} for n in range(count)])
    api.post("/v1/event-destinations", {"name": "d", "type": "DURABLE_CONSUMER", "topic": "t", "startAt": "oldest"})
    heads = {bound["partition"]: bound["nextOffset"] for bound in api.get("/v1/topics/t/bounds").json()}
    return {"a": next(n for n in heads if heads[n] == 6), "b": next(n for n in heads if heads[n] == 3)}


def pull(api, worker="w", limit=100):
    answer = api.post(f"{ONE}/pull?limit={limit}&workerId={worker}")
    return answer.json() if answer.status_code == 200 else answer.status_code


def settle(api, batch):
    body = {"leaseId": batch["leaseId"], "generation": batch["generation"], "status": "ok"}
    return api.post(f"{ONE}/acknowledge", body).json()


def drain(api):
    while (batch := pull(api)) != 204:
        settle(api, batch)


def seek(api, to, **more):
    return api.post(f"{ONE}/seek", {"to": to, "reason": "test", **more})


def test_a_sequence_moves_its_partition_so_that_it_is_delivered_next(api, world):
    drain(api)
    a = world["a"]
    answer = seek(api, {"sequence": sequence(a, 4)}).json()
    assert answer == {"before": [sequence(a, 6)], "after": [sequence(a, 4)], "redelivered": 2, "leasesFenced": 0}
    assert [event["sequence"] for event in pull(api)["events"]] == [sequence(a, 4), sequence(a, 5)]
    assert pull(api, "v") == 204


def test_leases_in_the_way_are_stale_afterwards_and_others_are_not(api, world):
    first, second = pull(api, "w"), pull(api, "v")
    moved, stays = sorted(
        (first, second), key=lambda batch: not batch["events"][0]["sequence"].startswith(f"00{world['a']}")
    )
    answer = seek(api, {"sequence": sequence(world["a"], 1)}).json()
    assert (answer["leasesFenced"], answer["redelivered"]) == (1, 5)
    assert settle(api, moved)["status"] == "stale"
    assert settle(api, stays)["status"] == "committed"
    assert next(event["sequence"] for event in pull(api)["events"]) == sequence(world["a"], 1)


def test_a_dry_run_says_the_same_and_changes_nothing(api, world):
    batch = pull(api)
    told = seek(api, "oldest", dryRun=True).json()
    assert Audit.objects.filter(verb="seek").count() == 0
    assert pull(api)["leaseId"] == batch["leaseId"]
    assert seek(api, "oldest").json() == told


def test_a_seek_to_the_recorded_before_undoes_it(api, world):
    settle(api, pull(api, limit=2))
    done = seek(api, "head").json()
    assert pull(api) == 204
    record = Audit.objects.get(verb="seek")
    assert record.before["at"] == done["before"] and record.reason == "test"
    seek(api, {"sequence": record.before["at"]})
    delivered = []
    while (batch := pull(api)) != 204:
        delivered += batch["events"]
        settle(api, batch)
    assert len(delivered) == 7


def test_a_time_is_when_events_were_appended_and_one_after_the_head_is_the_head(api, world):
    drain(api)
    assert seek(api, {"time": "2020-01-01T00:00:00Z"}).json()["redelivered"] == 9
    assert seek(api, {"time": "2999-01-01T00:00:00Z"}).json()["after"] == [sequence(0, 6 if world["a"] == 0 else 3),
        sequence(1, 6 if world["a"] == 1 else 3)]  # fmt: skip


def test_what_is_not_in_the_log_is_refused(api, world):
    for to in ({"sequence": sequence(world["a"], 7)}, {"sequence": sequence(7, 0)}, {"sequence": "x"}, {}, "middle"):
        assert seek(api, to).status_code == 400
    assert api.post(f"{ONE}/seek", {"to": "head"}).status_code == 400
    for reason in ("", "  ", "\n", None):
        for more in ({}, {"dryRun": True}):
            refused = api.post(f"{ONE}/seek", {"to": "head", "reason": reason, **more})
            assert refused.status_code == 400 and refused.json()["error"]["details"] == {"field": "reason"}
    assert api.post("/v1/event-destinations/none/seek", {"to": "head", "reason": "x"}).status_code == 404


def test_a_group_is_moved_and_its_members_are_fenced(api, world):
    a = world["a"]
    join = ("/v1/topics/t/groups/g/assignments", {"memberId": "m", "ttlSeconds": 60})
    token = {held["partition"]: held["fencingToken"] for held in api.post(*join).json()["partitions"]}[a]
    commit = {"group": "g", "offset": 5, "fencingToken": token}
    api.post(f"/v1/topics/t/partitions/{a}/commit", commit)
    moved = api.post("/v1/topics/t/groups/g/seek", {"to": {"sequence": sequence(a, 2)}}).json()
    assert moved == {"before": [sequence(a, 5)], "after": [sequence(a, 2)], "redelivered": 3, "leasesFenced": 1}
    assert api.post(f"/v1/topics/t/partitions/{a}/commit", commit).json()["error"]["code"] == "FENCED"
    new = {held["partition"]: held["fencingToken"] for held in api.post(*join).json()["partitions"]}[a]
    assert new > token
    assert len(api.get(f"/v1/topics/t/partitions/{a}/consume", {"group": "g"}).json()["records"]) == 4
    assert api.post("/v1/topics/t/groups/none/seek", {"to": "head"}).status_code == 404


def test_cursors_show_every_reader_within_the_patterns(api, api_with, world):
    pull(api)
    api.post(f"/v1/topics/t/partitions/{world['b']}/commit", {"group": "g", "offset": 2})
    shown = api.get("/v1/topics/t/cursors").json()
    assert {(each["partition"], each["kind"], each["name"]) for each in shown} == {
        (number, kind, name) for number in (0, 1) for kind, name in (("destination", "d"), ("group", "g"))
    }
    b = api.get(f"/v1/topics/t/partitions/{world['b']}/cursors").json()
    assert [(each["name"], each["lag"]) for each in b] == [("d", 3), ("g", 1)]
    assert [each["name"] for each in api_with("read:events t").get("/v1/topics/t/cursors").json()] == ["g", "g"]
    assert api.get("/v1/topics/t/partitions/2/cursors").status_code == 404
