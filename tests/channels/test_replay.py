"""Snapshot and replay: what follows a cursor, whole and in order, or 410."""

import pytest

from tests.channels.conftest import code, sql

pytestmark = pytest.mark.django_db


def test_a_known_kind_without_events_has_a_snapshot_and_an_empty_replay(channel, application):
    assert channel.snapshot() == {"data": {"job": None}, "sequence": 0, "cursor": "0"}
    assert application.snapshot()["data"] == {"application": None, "jobs": {}, "environments": {}}
    assert channel.events() == {"events": [], "cursor": "0", "more": False}
    assert sql("SELECT count(*) FROM channel") == [(0,)]


def test_pages_follow_each_other_without_a_gap(channel):
    for number in range(7):
        channel.publish(data=number)
    seen, cursor, more = [], "0", True
    while more:
        page = channel.events(cursor, limit=3)
        seen += [(event["sequence"], event["data"]) for event in page["events"]]
        cursor, more = page["cursor"], page["more"]
        assert cursor == str(seen[-1][0])
    assert seen == [(number + 1, number) for number in range(7)]


def test_a_full_last_page_says_that_there_is_no_more(channel):
    for _ in range(3):
        channel.publish()
    assert channel.events(0, limit=3)["more"] is False
    assert channel.events(3) == {"events": [], "cursor": "3", "more": False}


def test_a_page_has_a_hundred_events_unless_asked(channel):
    for _ in range(101):
        channel.publish()
    page = channel.events()
    assert (len(page["events"]), page["cursor"], page["more"]) == (100, "100", True)


def test_a_page_ends_at_four_mebibytes_and_has_at_least_one_event(channel):
    for _ in range(18):
        channel.publish(data="x" * 250_000)
    page = channel.events()
    assert (len(page["events"]), page["cursor"], page["more"]) == (16, "16", True)
    assert [event["sequence"] for event in channel.events(16)["events"]] == [17, 18]


def test_beyond_the_channel_is_expired(channel):
    channel.publish()
    refused = channel.events(2, status=410)["error"]
    assert (refused["code"], refused["details"]) == ("CURSOR_EXPIRED", {"oldestSequence": 1, "sequence": 1})


@pytest.mark.parametrize("query", ["after=-1", "after=x", "after=1.0", "after=", "limit=0", "limit=1001", f"after={2**63}"])
def test_a_cursor_or_limit_that_is_none_is_refused(channel, query):
    assert code(channel.api.get(f"{channel.path}/events?{query}")) == (400, "INVALID_PARAMETER")


def test_a_deletion_takes_a_sequence_and_expires_every_older_cursor_but_zero(channel):
    for _ in range(3):
        channel.publish(documents={"job": {}})
    channel.log({"message": "m"})
    assert channel.api.delete(channel.path).status_code == 204
    assert channel.snapshot() == {"data": {"job": None}, "sequence": 4, "cursor": "4"}
    for cursor in (1, 2, 3):
        assert channel.events(cursor, status=410)["error"]["code"] == "CURSOR_EXPIRED"
    assert channel.events(0) == channel.events(4) == {"events": [], "cursor": "4", "more": False}
    assert channel.publish(id="again")["sequence"] == 5
    assert [event["sequence"] for event in channel.events(0)["events"]] == [5]
    assert channel.events(3, status=410)
    assert channel.logs()["lines"] == []


def test_what_does_not_exist_or_is_deleted_cannot_be_deleted(channel):
    assert code(channel.api.delete(channel.path)) == (404, "NOT_FOUND")
    channel.publish()
    assert channel.api.delete(channel.path).status_code == 204
    assert code(channel.api.delete(channel.path)) == (404, "NOT_FOUND")
    assert code(channel.api.get(channel.path)) == (404, "NOT_FOUND")


def test_a_channel_shows_where_it_stands(channel):
    channel.publish()
    shown = channel.api.get(channel.path).json()
    assert (shown["channel"], shown["kind"], shown["sequence"], shown["oldestSequence"]) == (channel.name, "job", 1, 1)
    assert shown["liveConnections"] == 0


def test_logs_have_pages_of_their_own(channel):
    assert channel.logs() == {"lines": [], "cursor": "0", "more": False}
    channel.log({"message": "a", "level": "info", "time": "2026-01-01T00:00:00Z", "fields": {"n": 1.0}}, {"message": "b"})
    assert channel.log({"message": "c"}) == {"accepted": 1, "cursor": "3"}
    page = channel.logs(limit=2)
    assert [line["message"] for line in page["lines"]] == ["a", "b"]
    assert (page["cursor"], page["more"]) == ("2", True)
    first = page["lines"][0]
    assert (first["level"], first["time"], first["fields"]) == ("info", "2026-01-01T00:00:00.000000Z", {"n": 1.0})
    assert channel.logs(2) == {"lines": channel.logs()["lines"][2:], "cursor": "3", "more": False}
    assert channel.logs(4, status=410)["error"]["code"] == "CURSOR_EXPIRED"
    assert channel.snapshot()["sequence"] == 0


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ([], "lines"),
        ([{"message": "m"}] * 1001, "lines"),
        ([{"message": "m", "fields": []}], "lines[0].fields"),
        ([{"message": "m", "time": "yesterday"}], "lines[0].time"),
        ([{"message": "m", "levle": "x"}], "lines[0].levle"),
    ],
)
def test_log_lines_that_are_none_are_refused(channel, lines, field):
    assert channel.log(*lines, status=400)["error"]["details"]["field"] == field
    assert channel.logs()["lines"] == []
