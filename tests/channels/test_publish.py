"""Publishing: the next sequence of each channel, documents in the same transaction, an id once."""

import json

import pytest

from tests.channels.conftest import Channel, code, sql
from tests.factories import unique

pytestmark = pytest.mark.django_db


def test_sequences_count_from_one_and_a_cursor_is_their_text(channel):
    first, second = channel.publish(), channel.publish()
    assert (first["sequence"], first["cursor"]) == (1, "1")
    assert (second["sequence"], second["cursor"]) == (2, "2")
    assert first.keys() == {"id", "sequence", "cursor"}


def test_an_event_reads_back_as_it_was_sent(channel):
    body = b'{"type": "job.started", "id": "e1", "data": {"b": 1.0, "a": [1e2, "\\u0000\\ud800 \\/"], "b": 2}}'
    channel.api.post(f"{channel.path}/events", body)
    answer = channel.api.get(f"{channel.path}/events").content
    assert b'"data":{"b": 1.0, "a": [1e2, "\\u0000\\ud800 \\/"], "b": 2}' in answer
    (event,) = channel.events()["events"]
    assert event.keys() == {"id", "sequence", "type", "time", "channel", "data"}
    assert (event["id"], event["sequence"], event["type"], event["channel"]) == ("e1", 1, "job.started", channel.name)
    assert event["time"].endswith("Z")


def test_data_that_is_not_sent_is_null(channel):
    channel.publish()
    assert channel.events()["events"][0]["data"] is None


def test_a_repeated_id_answers_the_first_position_and_changes_nothing(channel):
    channel.publish(id="e1", documents={"job": {"state": "running"}})
    channel.publish()
    assert channel.publish(id="e1", documents={"job": {"state": "failed"}}) == {"id": "e1", "sequence": 1, "cursor": "1"}
    assert channel.snapshot() == {"data": {"job": {"state": "running"}}, "sequence": 2, "cursor": "2"}


def test_an_event_to_several_channels_takes_the_next_sequence_of_each(channel, application):
    channel.publish()
    done = channel.api.post(
        "/v1/streams/events",
        {
            "type": "job.started",
            "targets": [
                {"channel": channel.name, "documents": {"job": {"state": "running"}}},
                {"channel": application.name, "documents": {"jobs": {"42": {"state": "running"}}}},
            ],
        },
    ).json()
    assert done["targets"] == [
        {"channel": channel.name, "sequence": 2, "cursor": "2", "duplicate": False},
        {"channel": application.name, "sequence": 1, "cursor": "1", "duplicate": False},
    ]
    assert {channel.events(1)["events"][0]["id"], application.events()["events"][0]["id"]} == {done["id"]}
    assert application.snapshot()["data"] == {"application": None, "jobs": {"42": {"state": "running"}}, "environments": {}}


def test_a_target_that_has_the_id_answers_its_position_and_the_others_publish(channel, application):
    channel.publish(id="e1")
    targets = [{"channel": channel.name}, {"channel": application.name}]
    done = channel.api.post("/v1/streams/events", {"type": "x", "id": "e1", "targets": targets}).json()
    assert [(each["sequence"], each["duplicate"]) for each in done["targets"]] == [(1, True), (1, False)]


def test_all_or_none_of_the_channels_get_the_event(channel, application):
    targets = [{"channel": channel.name}, {"channel": application.name, "documents": {"nothing": 1}}]
    refused = channel.api.post("/v1/streams/events", {"type": "x", "targets": targets})
    assert code(refused) == (400, "INVALID_FIELD")
    assert refused.json()["error"]["details"]["field"] == "targets[1].documents.nothing"
    targets[1] = {"channel": "no-such-kind:1"}
    assert code(channel.api.post("/v1/streams/events", {"type": "x", "targets": targets})) == (404, "NOT_FOUND")
    assert channel.snapshot()["sequence"] == 0
    assert sql("SELECT count(*) FROM channel") == [(0,)]


def test_a_channel_twice_or_more_than_twenty_are_refused(channel):
    twice = [{"channel": channel.name}] * 2
    assert code(channel.api.post("/v1/streams/events", {"type": "x", "targets": twice})) == (400, "INVALID_FIELD")
    many = [{"channel": f"job:{number}"} for number in range(21)]
    refused = channel.api.post("/v1/streams/events", {"type": "x", "targets": many})
    assert code(refused) == (400, "INVALID_FIELD")
    assert refused.json()["error"]["details"] == {"field": "targets", "min": 1, "max": 20}


def test_documents_are_put_replaced_and_removed(application):
    application.publish(documents={"application": {"n": 1}, "jobs": {"1": {"a": 1}, "2": {"a": 2}}})
    application.publish(documents={"jobs": {"1": None, "2": {"a": 3}, "3": []}, "application": None})
    assert application.snapshot() == {
        "data": {"application": None, "jobs": {"2": {"a": 3}, "3": []}, "environments": {}},
        "sequence": 2,
        "cursor": "2",
    }


@pytest.mark.parametrize(
    ("documents", "field"),
    [
        ({"nothing": {}}, "documents.nothing"),
        ({"jobs": [1]}, "documents.jobs"),
        ({"jobs": None}, "documents.jobs"),
        ({"jobs": {"": 1}}, "documents.jobs"),
        ({"jobs": {"i" * 201: 1}}, "documents.jobs"),
    ],
)
def test_documents_that_the_kind_has_not_are_refused(application, documents, field):
    refused = application.publish(documents=documents, status=400)
    assert refused["error"]["details"]["field"] == field
    assert application.snapshot()["sequence"] == 0


def test_a_document_given_twice_is_refused(application):
    for twice in (b'{"jobs": {"1": 1, "1": 2}}', b'{"jobs": {}, "jobs": {}}'):
        refused = application.api.post(f"{application.path}/events", b'{"type": "x", "documents": ' + twice + b"}")
        assert code(refused) == (400, "INVALID_FIELD")


def test_data_and_documents_have_a_size(channel):
    large = "x" * (256 * 1024 - 2)
    channel.publish(data=large, documents={"job": large})
    assert channel.publish(data=large + "x", status=413)["error"]["details"] == {"field": "data", "max": 262_144}
    assert channel.publish(documents={"job": large + "x"}, status=413)["error"]["details"]["field"] == "documents.job"
    assert channel.snapshot()["data"]["job"] == large


def test_control_characters_in_type_and_id_are_refused(channel):
    for field in ("type", "id"):
        fields = {"type": "x"} | {field: "a\nevent: spoof"}
        assert channel.publish(**fields, status=400)["error"]["details"]["field"] == field


def test_names_that_no_channel_can_have_do_not_exist_in_paths_and_are_refused_in_bodies(api):
    for name in ("job", "job:", ":42", "nothing:1"):
        assert code(api.get(f"/v1/streams/{name}/snapshot")) == (404, "NOT_FOUND")
        assert code(api.post(f"/v1/streams/{name}/events", {"type": "x"})) == (404, "NOT_FOUND")
    for name in ("job", "job:", ":42", "job:a b"):
        refused = api.post("/v1/streams/events", {"type": "x", "targets": [{"channel": name}]})
        assert refused.json()["error"]["details"]["field"] == "targets[0].channel"


def test_a_pattern_has_to_match_every_channel_of_the_call(api_with, channel):
    narrow = Channel(api_with(f"write:channels {channel.name}", f"read:channels {channel.name}"), channel.name)
    assert narrow.publish()["sequence"] == 1
    targets = [{"channel": channel.name}, {"channel": unique("job:other")}]
    assert code(narrow.api.post("/v1/streams/events", {"type": "x", "targets": targets})) == (404, "NOT_FOUND")
    assert code(narrow.api.get(f"/v1/streams/{targets[1]['channel']}/snapshot")) == (404, "NOT_FOUND")
    assert channel.snapshot()["sequence"] == 1


def test_the_whole_of_many_documents_is_there(application):
    jobs = {str(number): {"n": number} for number in range(500)}
    application.publish(documents={"jobs": jobs})
    assert application.snapshot()["data"]["jobs"] == jobs
    assert json.dumps(application.snapshot()["data"]["environments"]) == "{}"


@pytest.mark.parametrize("kind", ["beyond-cdn-pointer/1", "resync.required"])
def test_what_the_transport_says_of_itself_is_no_type_of_an_event(api, channel, kind):
    for path, more in ((f"{channel.path}/events", {}), ("/v1/streams/events", {"targets": [{"channel": channel.name}]})):
        answer = api.post(path, {"type": kind, **more})
        assert code(answer) == (400, "INVALID_FIELD") and answer.json()["error"]["details"]["field"] == "type"
    assert channel.events()["events"] == []


def test_what_is_published_or_logged_is_found_where_location_says(api, channel):
    for n in range(3):
        answer = api.post(f"{channel.path}/events", {"type": "t", "data": n})
        assert [event["data"] for event in api.get(answer.headers["Location"]).json()["events"]] == [n]
    channel.log({"message": "before"})
    answer = api.post(f"{channel.path}/logs", {"lines": [{"message": "a"}, {"message": "b"}]})
    assert [line["message"] for line in api.get(answer.headers["Location"]).json()["lines"]] == ["a", "b"]


def test_a_wrong_form_of_a_document_is_named_by_its_key(api):
    for body, field in (
        ({"a": "one", "x": "two"}, "documents.x"),
        ({"a": "many", "b": 1}, "documents.b"),
    ):
        answer = api.post("/v1/channel-kinds", {"name": unique("kind"), "documents": body})
        assert code(answer)[0] == 400 and answer.json()["error"]["details"]["field"] == field
