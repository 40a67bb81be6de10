"""What is kept, by number, age and bytes; 410 exactly when events are missing; logs and grants in their own time."""

import pytest

from apps.channels.operations import forget
from tests.channels.conftest import Channel, code, shown, sql
from tests.factories import unique

pytestmark = pytest.mark.django_db


@pytest.fixture
def kept(api):
    """A channel of a kind of its own: `kept(records=3)`."""

    def make(logs: int = 3600, **events):
        kind = unique("kind")
        every = {"records": None, "seconds": None, "bytes": None} | events
        body = {"name": kind, "documents": {"job": "one"}, "retention": {"events": every, "logs": {"seconds": logs}}}
        shown(api.post("/v1/channel-kinds", body), 201)
        return Channel(api, f"{kind}:1")

    return make


def sequences(channel: Channel) -> list[int]:
    return [event["sequence"] for event in channel.events()["events"]]


def test_the_last_so_many_are_kept_and_only_older_cursors_expire(kept):
    channel = kept(records=3)
    for _ in range(8):
        channel.publish()
    assert forget.forget_events() == 5
    assert sequences(channel) == [6, 7, 8]
    for cursor in (1, 4):
        refused = channel.events(cursor, status=410)["error"]
        assert refused["details"] == {"oldestSequence": 6, "sequence": 8}
    for cursor in (0, 5, 6, 8):
        assert channel.events(cursor)["cursor"] == "8"
    assert forget.forget_events() == 0
    assert channel.snapshot()["sequence"] == 8


def test_what_is_older_is_forgotten_even_all_of_it(kept):
    channel = kept(seconds=60)
    for _ in range(4):
        channel.publish(documents={"job": {"state": "running"}})
    sql("UPDATE channel_event SET at = at - interval '61 seconds' WHERE sequence <= 2")
    forget.forget_events()
    assert sequences(channel) == [3, 4]
    sql("UPDATE channel_event SET at = at - interval '61 seconds'")
    forget.forget_events()
    assert channel.events(0) == channel.events(4) == {"events": [], "cursor": "4", "more": False}
    assert channel.events(3, status=410)
    assert channel.snapshot() == {"data": {"job": {"state": "running"}}, "sequence": 4, "cursor": "4"}
    assert channel.publish()["sequence"] == 5
    assert channel.events(4)["cursor"] == "5"


def test_so_many_bytes_are_kept(kept):
    channel = kept(bytes=1_000)
    for _ in range(10):
        channel.publish(data="x" * 298)
    forget.forget_events()
    assert sequences(channel) == [8, 9, 10]


def test_a_sweep_goes_on_where_a_batch_ended(kept, monkeypatch):
    monkeypatch.setattr(forget, "BATCH", 10)
    channel = kept(records=2)
    for _ in range(35):
        channel.publish()
    assert forget.forget_events() == 33
    assert sequences(channel) == [34, 35]


def test_without_a_limit_all_is_kept(kept):
    channel = kept()
    channel.publish()
    sql("UPDATE channel_event SET at = at - interval '10 years'")
    assert forget.forget_events() == 0


def test_an_id_that_is_forgotten_is_a_new_event(kept):
    channel = kept(records=1)
    channel.publish(id="e1")
    channel.publish()
    forget.forget_events()
    assert channel.publish(id="e1")["sequence"] == 3


def test_log_lines_outlive_the_events_and_then_go(kept):
    channel = kept(records=1, logs=3600)
    channel.publish()
    channel.log({"message": "old"}, {"message": "older"})
    channel.publish()
    sql("UPDATE channel_log SET at = at - interval '59 minutes'")
    forget.forget_events()
    assert len(channel.logs()["lines"]) == 2
    sql("UPDATE channel_log SET at = at - interval '2 minutes' WHERE message = 'old'")
    assert [line["message"] for line in channel.logs()["lines"]] == ["older"]
    assert forget.forget_logs() == 1
    assert channel.log({"message": "new"})["cursor"] == "3"


def test_grants_are_forgotten_a_day_after_their_end(granted):
    for channel in ("job:1", "job:2"):
        granted(channel)
    ((first,),) = sql("SELECT id FROM channel_grant ORDER BY id LIMIT 1")
    sql("UPDATE channel_grant SET expires_at = statement_timestamp() - interval '25 hours' WHERE id = %s", first)
    forget.forget_grants()
    assert sql("SELECT count(*) FROM channel_grant") == [(1,)]


def test_kinds_are_there_from_the_start(api):
    found = shown(api.get("/v1/channel-kinds"), 200)["items"]
    assert {kind["name"]: kind["documents"] for kind in found} == {
        "job": {"job": "one"},
        "application": {"application": "one", "jobs": "many", "environments": "many"},
        "organization": {"organization": "one", "jobs": "many", "credit": "one"},
    }


def test_a_kind_is_made_and_changed(api):
    made = api.post("/v1/channel-kinds", {"name": "order", "documents": {"order": "one"}})
    assert made["Location"] == "/v1/channel-kinds/order"
    retention = shown(made, 201)["retention"]
    assert retention == {"events": {"records": 10_000, "seconds": 604_800, "bytes": None}, "logs": {"seconds": 2_592_000}}
    assert code(api.post("/v1/channel-kinds", {"name": "order", "documents": {}})) == (409, "NAME_TAKEN")
    changed = {"documents": {"order": "one", "parcels": "many"}, "retention": {"events": {"seconds": None}}}
    assert shown(api.patch("/v1/channel-kinds/order", changed), 200)["retention"]["events"] == {
        "records": 10_000,
        "seconds": None,
        "bytes": None,
    }
    assert Channel(api, "order:1").snapshot()["data"] == {"order": None, "parcels": {}}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "a:b"}, "name"),
        ({"documents": {"a": "several"}}, "documents"),
        ({"documents": {"a b": "one"}}, "documents.a b"),
        ({"retention": {"events": {"records": 0}}}, "retention.events.records"),
        ({"retention": {"logs": {"seconds": None}}}, "retention.logs.seconds"),
        ({"retention": {"events": {"hours": 1}}}, "retention.events.hours"),
    ],
)
def test_kinds_that_are_none_are_refused(api, change, field):
    refused = api.post("/v1/channel-kinds", {"name": unique("k"), "documents": {}} | change)
    assert refused.status_code == 400
    assert refused.json()["error"]["details"]["field"].startswith(field)
