"""Consumer groups by their doors: pages from a position that only commits move."""

import pytest

from apps.cursors.models import Group
from apps.cursors.selectors.turns import Turns
from apps.topics.selectors import resolve
from tests.logs import sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def publish(api):
    resolve.forget()  # a topic of this name in a test before
    api.post("/v1/topics", {"name": "t", "partitions": 2})

    def publish(*payloads, key="a"):
        sent = [{"partitionKey": key, "payload": payload} for payload in payloads]
        return api.post("/v1/topics/t/records", sent).json()[0]["partition"]

    return publish


def consume(api, partition, group="g", **query):
    return api.get(f"/v1/topics/t/partitions/{partition}/consume", {"group": group, **query})


def commit(api, partition, offset, group="g", **more):
    return api.post(f"/v1/topics/t/partitions/{partition}/commit", {"group": group, "offset": offset, **more})


def payloads(page):
    return [record["body"]["payload"] for record in page["records"]]


def test_a_new_group_starts_at_the_oldest_record_and_reading_moves_nothing(api, publish):
    partition = publish("one", "two", "three")
    for _ in range(2):
        page = consume(api, partition, limit=2).json()
        assert payloads(page) == ["one", "two"]
        assert (page["nextOffset"], page["lag"]) == (2, 1)
    assert not Group.objects.exists()


def test_a_commit_moves_one_group_and_no_other(api, publish):
    partition = publish("one", "two", "three")
    assert commit(api, partition, 2).status_code == 200
    assert payloads(consume(api, partition).json()) == ["three"]
    assert payloads(consume(api, partition, group="other").json()) == ["one", "two", "three"]


def test_a_commit_may_be_repeated_but_goes_neither_back_nor_beyond_the_head(api, publish):
    partition = publish("one", "two", "three")
    assert commit(api, partition, 2).status_code == commit(api, partition, 2).status_code == 200
    rewind = commit(api, partition, 1)
    assert rewind.status_code == 409 and rewind.json()["error"]["code"] == "CURSOR_REWIND"
    beyond = commit(api, partition, 4)
    assert beyond.status_code == 400 and beyond.json()["error"]["details"] == {
        "field": "offset", "min": 2, "max": 3, "partition": partition, "position": 2, "nextOffset": 3,
    }  # fmt: skip
    unknown = commit(api, 9, 0)
    assert unknown.status_code == 404
    assert unknown.json()["error"]["details"] == {"field": "partition", "min": 0, "max": 1}


def test_a_commit_is_told_all_that_is_wrong_with_it_at_once(api, publish):
    partition = publish("one")
    place = f"/v1/topics/t/partitions/{partition}/commit"
    details = api.post(place, {"offset": -1, "fencingToken": "x", "ofset": 1}).json()["error"]["details"]
    told = {each["field"]: each for each in details["errors"]}
    assert set(told) == {"group", "offset", "fencingToken", "ofset"} and told["offset"]["min"] == 0
    assert not Group.objects.exists()


def test_all_partitions_are_polled_at_once_each_from_its_own_position(api, publish):
    first, second = publish("one", key="a"), publish("two", key="b")
    assert first != second
    commit(api, first, 1)
    pages = api.get("/v1/topics/t/consume", {"group": "g"}).json()
    assert [page["partition"] for page in pages] == [0, 1]
    assert payloads(pages[first]) == [] and payloads(pages[second]) == ["two"]


def test_a_poll_of_all_stays_within_4_mib_and_serves_next_who_was_served_least_recently(api, publish):
    for key in "ab":
        for _ in range(3):
            publish(*["x" * 250_000] * 8, key=key)
    answer = api.get("/v1/topics/t/consume", {"group": "g"})
    assert len(answer.content) <= 4 * 1024 * 1024
    served, deferred = answer.json()
    assert served["records"] and deferred == {"partition": 1, "deferred": True}
    commit(api, served["partition"], served["nextOffset"])
    assert [page.get("deferred", False) for page in api.get("/v1/topics/t/consume", {"group": "g"}).json()] == [True, False]


def test_one_partition_that_cannot_be_read_stands_as_an_error_beside_the_others(api, publish):
    first, second = publish("one", key="a"), publish("two", key="b")
    commit(api, first, 0)
    sql("UPDATE topic_partition SET oldest_offset = 1, hot_offset = 1 WHERE partition = %s", first)
    pages = api.get("/v1/topics/t/consume", {"group": "g"}).json()
    assert pages[first]["error"]["code"] == "CURSOR_EXPIRED"
    assert pages[first]["error"]["details"]["oldestOffset"] == 1
    assert payloads(pages[second]) == ["two"]


def test_below_the_oldest_it_is_410_and_committing_the_oldest_is_the_way_out(api, publish):
    partition = publish("one", "two")
    commit(api, partition, 0)
    sql("UPDATE topic_partition SET oldest_offset = 1 WHERE partition = %s", partition)
    gone = consume(api, partition)
    assert gone.status_code == 410
    assert commit(api, partition, gone.json()["error"]["details"]["oldestOffset"]).status_code == 200
    assert payloads(consume(api, partition).json()) == ["two"]


def test_a_topic_with_groups_is_in_use_until_they_are_deleted(api, publish):
    partition = publish("one")
    commit(api, partition, 1)
    in_use = api.delete("/v1/topics/t")
    assert in_use.status_code == 409 and in_use.json()["error"]["code"] == "TOPIC_IN_USE"
    assert api.delete("/v1/topics/t/groups/g").status_code == 204
    assert api.delete("/v1/topics/t/groups/g").status_code == 404
    assert payloads(consume(api, partition).json()) == ["one"]
    assert api.delete("/v1/topics/t").status_code == 204


def test_groups_are_listed_with_position_lag_and_holder(api, publish):
    partition = publish("one", "two")
    commit(api, partition, 1, group="b")
    api.post("/v1/topics/t/groups/a/assignments", {"memberId": "m", "ttlSeconds": 60})
    first, second = api.get("/v1/topics/t/groups").json()["items"]
    assert [first["name"], second["name"]] == ["a", "b"]
    assert [first["lag"], second["lag"]] == [2, 1]
    assert first["partitions"][0]["memberId"] == "m" and second["partitions"][0]["memberId"] is None


def test_a_pattern_of_groups_reaches_these_groups_only(api, api_with, publish):
    partition = publish("one")
    commit(api, partition, 0, group="x1")
    commit(api, partition, 0, group="g1")
    narrow = api_with("read:events t/g*")
    assert consume(narrow, partition, group="g1").status_code == 200
    assert consume(narrow, partition, group="x1").status_code == 404
    assert [group["name"] for group in narrow.get("/v1/topics/t/groups").json()["items"]] == ["g1"]
    assert api_with("read:events u").get("/v1/topics/t/groups").status_code == 404
    assert narrow.get("/v1/topics/t/bounds").status_code == 404


def test_a_group_name_must_be_one(api, publish):
    publish("one")
    assert consume(api, 0, group="a/b").json()["error"]["code"] == "INVALID_PARAMETER"
    assert commit(api, 0, 0, group="").status_code == 400
    assert api.get("/v1/topics/missing/consume").status_code == 404


def test_polls_without_a_commit_serve_every_partition_in_turn_and_forget_within_bounds(api, publish):
    for key in "ab":
        for _ in range(3):
            publish(*["x" * 250_000] * 8, key=key)

    def served(group):
        return [page["partition"] for page in api.get("/v1/topics/t/consume", {"group": group}).json() if "records" in page]

    assert [served("turns") for _ in range(4)] == [[0], [1], [0], [1]]
    assert [
        page["partition"] for page in api.get("/v1/topics/t/consume", {"group": "other"}).json() if "records" in page
    ] == [0]
    assert not Group.objects.exists()


def test_what_was_served_longest_ago_is_forgotten_first():
    turns = Turns(most=3)
    turns.served(1, "g", [0, 1, 2, 0, 3])
    assert turns.of(1, "g", range(5)) == {0: 4, 1: 0, 2: 3, 3: 5, 4: 0}
    assert turns.of(1, "h", [0]) == turns.of(2, "g", [0]) == {0: 0}
