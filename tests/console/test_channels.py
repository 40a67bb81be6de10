"""Channels in the admin."""

import json

import pytest
from msgspec import Raw

from apps.access import audit
from apps.channels.models import Channel, ChannelKind
from apps.channels.operations import grants
from apps.channels.operations.publish import Target, publish
from tests.channels.conftest import sql
from tests.factories import Api

pytestmark = pytest.mark.django_db
MARKUP = "<script>alert(1)</script>"
LIST = "/admin/channels/channel/"


@pytest.fixture
def job():
    publish([Target("job:42", {"job": Raw(json.dumps({"state": MARKUP}).encode())})], "job.started", json.dumps(MARKUP))
    return Channel.objects.get(name="job:42")


def url(channel, rest: str = "change/") -> str:
    return f"/admin/channels/channel/{channel.pk}/{rest}"


def test_the_list_shows_sequence_range_connections_and_the_last_event(login, job, at_most):
    sql("UPDATE channel SET last_sequence = 1234, oldest_sequence = 101")
    sql("INSERT INTO channel_live VALUES ('job:42', gen_random_uuid(), 7, now()), ('job:42', gen_random_uuid(), 5, now())")
    client = login("Viewer")
    with at_most(12):
        html = client.get("/admin/channels/channel/").content.decode()
    assert "101 to 1,234" in html and ">12<" in html


def test_a_hundred_channels_are_listed_in_few_queries(login, at_most):
    for number in range(100):
        publish([Target(f"job:{number}")], "x")
    client = login("Viewer")
    with at_most(12):
        assert client.get("/admin/channels/channel/").content.decode().count("job:") >= 50


def test_its_page_shows_documents_events_and_grants_escaped(login, job, at_most):
    grants.make(None, ["job:42"], MARKUP, 60)
    client = login("Admin")
    with at_most(22):
        html = client.get(url(job)).content.decode()
    assert "job.started" in html and "&lt;script&gt;" in html and MARKUP not in html
    assert "in force" in html


def test_payloads_need_their_permission(login, job):
    client = login("Operator")
    html = client.get(url(job)).content.decode()
    assert "alert(1)" not in html and "does not show payloads" in html
    assert "alert(1)" not in client.get(url(job, "events/1/")).content.decode()
    for path in ("follow/", "events/1/raw/"):
        assert client.get(url(job, path)).status_code == 403
    assert client.post(url(job, "follow/grant/")).status_code == 403


def test_one_event_is_shown_and_given_raw(login, job):
    client = login("Admin")
    assert "&lt;script&gt;" in client.get(url(job, "events/1/")).content.decode()
    raw = client.get(url(job, "events/1/raw/"))
    assert (raw.content.decode(), raw["Content-Type"]) == (json.dumps(MARKUP), "text/plain; charset=utf-8")
    assert client.get(url(job, "events/2/")).status_code == 404


def test_a_grant_is_revoked_and_so_are_all_of_its_subject(login, job):
    (one, token), (_, other) = (grants.make(None, ["job:42"], "ana", 60) for _ in range(2))
    client = login("Admin")
    assert "within 5 s" in client.get(url(job, f"grants/{one.pk}/revoke/")).content.decode()
    assert Api(token).get("/v1/streams/job:42/snapshot").status_code == 200
    client.post(url(job, f"grants/{one.pk}/revoke/"), {"confirmed": "1", "reason": "left"})
    assert Api(token).get("/v1/streams/job:42/snapshot").status_code == 403
    assert Api(other).get("/v1/streams/job:42/snapshot").status_code == 200
    client.post(url(job, f"grants/{one.pk}/revoke-all/"), {"confirmed": "1", "reason": "left"})
    assert Api(other).get("/v1/streams/job:42/snapshot").status_code == 403
    html = client.get(url(job)).content.decode()
    assert "revoked" in html and "left" in html


def test_a_channel_is_deleted_by_its_name(login, job):
    client = login("Admin")
    wrong = client.post(url(job, "delete/"), {"confirmed": "1", "reason": "x", "name": "job:43"})
    assert "This is not job:42" in wrong.content.decode()
    client.post(url(job, "delete/"), {"confirmed": "1", "reason": "x", "name": "job:42"})
    assert client.get(url(job)).status_code in (302, 404)
    assert sql("SELECT last_sequence, oldest_sequence FROM channel") == [(2, 3)]


def test_operators_neither_delete_nor_revoke(login, job):
    one, _ = grants.make(None, ["job:42"], "ana", 60)
    client = login("Operator")
    for path in ("delete/", f"grants/{one.pk}/revoke/", f"grants/{one.pk}/revoke-all/"):
        assert client.post(url(job, path), {"confirmed": "1", "reason": "x"}).status_code == 403


def test_the_page_that_follows_gets_a_grant_of_its_own(login, job):
    client = login("Admin")
    html = client.get(url(job, "follow/")).content.decode()
    assert "/static/channels/follow.js" in html
    assert client.get(url(job, "follow/grant/")).status_code == 405
    made = client.post(url(job, "follow/grant/")).json()
    assert Api(made["token"]).get("/v1/streams/job:42/snapshot").status_code == 200
    assert Api(made["token"]).get("/v1/streams/job:43/snapshot").status_code == 404


def test_kinds_say_what_is_kept(login):
    html = login("Viewer").get("/admin/channels/channelkind/").content.decode()
    assert "environments (many)" in html and "the last 10,000" in html


def test_markup_in_every_field_of_a_channel_stays_text(login, job, at_most):
    document = json.dumps({MARKUP: [MARKUP]})
    publish([Target("job:42", {"job": Raw(document.encode())})], MARKUP, json.dumps({MARKUP: MARKUP}))
    made, _ = grants.make(None, ["job:42"], MARKUP, 60)
    audit.record(None, MARKUP, "channel", "job:42", reason=MARKUP)
    ChannelKind.objects.create(name=MARKUP, documents={MARKUP: MARKUP}, logs_seconds=60)
    client = login("Admin")
    pages = ["change/", "events/2/", "follow/", "delete/", f"grants/{made.pk}/revoke/", f"grants/{made.pk}/revoke-all/"]
    for path in (f"{LIST}?q={MARKUP}", "/admin/channels/channelkind/", *(url(job, page) for page in pages)):
        with at_most(20):
            answer = client.get(path)
        assert answer.status_code == 200 and MARKUP not in answer.content.decode(), path
    assert client.get(url(job)).content.decode().count("&lt;script&gt;") >= 5
