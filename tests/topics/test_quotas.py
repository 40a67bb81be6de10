"""Quotas: a group over one is refused for certain, the others are stored, and `load` says why."""

import pytest

from apps.topics.load import rates
from apps.topics.operations import line
from core.ids import uuid7
from tests.topics.cold import sweep, topic_of, use_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def topic(api):
    def made(partitions=1, **settings):
        name = f"q-{uuid7()}"
        assert api.post("/v1/topics", {"name": name, "partitions": partitions, **settings}).status_code == 201
        return name

    return made


def publish(api, name, *payloads, key="k", keys=None):
    sent = [{"partitionKey": key, "payload": payload} for payload in payloads]
    for record, own in zip(sent, keys or (), strict=False):
        record["key"] = own
    return api.post(f"/v1/topics/{name}/records", sent)


def refused(answer, quota):
    assert answer.status_code == 409
    (group,) = answer.json()
    assert group["success"] is False
    assert group["error"]["code"] == "QUOTA" and group["error"]["details"]["quota"] == quota
    return group["load"]


def test_more_hot_records_than_the_quota_are_refused_and_nothing_of_the_group_is_stored(api, topic):
    name = topic(maxHotRecords=5)
    assert publish(api, name, *"abcd").status_code == 202
    assert refused(publish(api, name, "e", "f"), "maxHotRecords")["hotRecords"] == 4
    assert publish(api, name, "e").status_code == 202
    assert refused(publish(api, name, "f"), "maxHotRecords")["hotRecords"] == 5


def test_a_repeat_of_what_is_stored_is_no_new_record(api, topic):
    name = topic(maxHotRecords=2)
    assert publish(api, name, "a", "b", keys=["1", "2"]).status_code == 202
    assert publish(api, name, "a", "b", keys=["1", "2"]).json()[0]["duplicates"] == 2
    refused(publish(api, name, "a", "c", keys=["1", "3"]), "maxHotRecords")


def test_bytes_are_counted_too(api, topic):
    name = topic(maxHotBytes=5_000)
    assert publish(api, name, "x" * 3_000).status_code == 202
    assert 3_000 < refused(publish(api, name, "x" * 3_000), "maxHotBytes")["hotBytes"] < 5_000


def test_other_partitions_of_the_same_request_are_stored(api, topic):
    name = topic(partitions=2, maxHotRecords=2)
    publish(api, name, "1", "2", key="a")
    sent = [{"partitionKey": key, "payload": "x"} for key in ("a", "b")]
    answer = api.post(f"/v1/topics/{name}/records", sent)
    assert answer.status_code == 409
    assert [group["success"] for group in answer.json()] == [False, True]


def test_the_rate_is_a_quota(api, topic):
    name = topic(maxRecordsPerSecond=10)
    assert publish(api, name, *["x"] * 100).status_code == 202
    assert refused(publish(api, name, "x"), "maxRecordsPerSecond")["recordsPerSecond"] > 10
    rates._rates.clear()
    assert publish(api, name, "x").status_code == 202


def test_appends_that_wait_are_a_quota(api, topic, monkeypatch):
    name = topic(maxBacklog=3)
    assert publish(api, name, "x").status_code == 202
    monkeypatch.setattr("apps.topics.operations.append.backlog", lambda topic_id: 3)
    refused(publish(api, name, "x"), "maxBacklog")
    assert line.backlog(0) == 0


def test_what_has_gone_to_cold_storage_no_longer_counts(api, tmp_path, settings):
    settings.TOWPATH = dict(settings.TOWPATH)
    use_store(tmp_path / "cold")
    topic = topic_of(api, hot_records=1, max_hot_records=4)
    assert publish(api, topic.name, *"abcd").status_code == 202
    refused(publish(api, topic.name, "e"), "maxHotRecords")
    sweep(topic)
    assert publish(api, topic.name, "e").status_code == 202


def test_quotas_and_retention_are_shown_changed_and_taken_away(api, topic):
    name = topic(maxHotRecords=5, retention={"hot": {"records": 7}, "cold": {"seconds": 60}, "onLag": "expire"})
    shown = api.get(f"/v1/topics/{name}").json()
    assert shown["maxHotRecords"] == 5
    assert shown["retention"]["hot"] == {"seconds": 604_800, "records": 7, "bytes": 268_435_456}
    changed = api.patch(f"/v1/topics/{name}", {"maxHotRecords": None, "retention": {"cold": {"seconds": None}}}).json()
    assert changed["maxHotRecords"] is None and changed["retention"]["cold"] == {"seconds": None}
    assert changed["retention"]["hot"]["records"] == 7 and changed["retention"]["onLag"] == "expire"
