"""Destinations in the admin: which stand still, why, and the buttons."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.access.models import Audit
from apps.cursors.models import Consumer
from apps.destinations.models import Destination
from apps.leases.selectors import leases
from apps.queues.models import Queue
from tests.console import world

pytestmark = pytest.mark.django_db
MARKUP = "<script>alert(1)</script>&\"'"
LIST = "/admin/destinations/destination/"


def url(destination, verb="change") -> str:
    return f"{LIST}{destination.pk}/{verb}/"


def consumer(destination) -> Consumer:
    return Consumer.objects.get(topic_id=destination.topic_id, consumer_id=destination.consumer_id)


@pytest.fixture
def topic(db):
    return world.topic(name="orders")


@pytest.fixture
def billing(topic):
    """Ten events behind, three of them leased."""
    world.events(topic, 10, age=725)
    made = world.destination(topic, "billing")
    world.lease(made, 0, 0, 3, worker="worker-7")
    return made


def state(name: str):
    """Brings a destination named `name` into the state of that cause."""
    topic = world.topic(name=f"topic-{name}")
    made = world.destination(topic, name, window_size=10, max_unsettled=20)
    if name != "caught_up":
        world.events(topic, 100, age=7200)
    match name:
        case "paused":
            made_consumer = {"paused_at": timezone.now(), "paused_by": "ana", "pause_reason": "deploy"}
            Consumer.objects.filter(topic_id=made.topic_id).update(**made_consumer)
        case "disabled":
            Consumer.objects.filter(topic_id=made.topic_id).update(disabled_at=timezone.now(), disabled_reason="gone")
        case "window_full":
            world.lease(made, 0, 0, 10)
        case "too_many_unsettled":
            world.lease(made, 0, 0, 9)
            world.lease(made, 0, 9, 11, state="waiting", ends_in=600)
        case "held_by_lease":
            world.lease(made, 0, 0, 2, worker="worker-7", attempt=5, age=900)
            world.seen(made, "worker-7")
        case "delivering":
            world.execute("UPDATE event SET appended_at = statement_timestamp() WHERE topic_id = %s", topic.pk)
            world.lease(made, 0, 0, 3)
        case "partition_stalled":
            world.lease(made, 1, 0, 1)
            world.seen(made, "worker-1")
    return made


SAID = {
    "caught_up": "caught up",
    "paused": "paused by ana: deploy",
    "disabled": "disabled: gone",
    "window_full": "window full: 10 of 10 leased",
    "too_many_unsettled": "too many unsettled: 9 leased, 11 waiting (limit 20)",
    "held_by_lease": "of worker-7, attempt 5",
    "no_pull": "no pull yet",
    "delivering": "delivering, ",
}


@pytest.mark.parametrize("code", SAID)
def test_every_cause_is_said_in_the_list_and_on_the_page(login, code):
    made, client = state(code), login("Viewer")
    assert SAID[code] in client.get(LIST).content.decode()
    assert SAID[code] in client.get(url(made)).content.decode()


def test_the_list_the_page_and_the_live_part_tell_the_same_lag(login, billing):
    client = login("Viewer")
    assert "10 events" in client.get(LIST).content.decode()
    for verb in ("change", "live"):
        html = client.get(url(billing, verb)).content.decode()
        assert "<dd>10</dd>" in html
        assert re.search(r"12 min \d+ s", html)
        assert "worker-7" in html
        assert "3 / 1,000" in html


def test_nobody_has_pulled_and_nothing_is_there_are_not_shown_as_lag(login, topic):
    made = world.destination(topic, "fresh")
    html = login("Viewer").get(url(made)).content.decode()
    assert "caught up" in html and "<dd>0</dd>" in html and "<dd>0 s</dd>" in html and "<dd>never</dd>" in html


def test_what_the_lag_in_time_cannot_be_told_is_unknown_not_zero(login, billing):
    world.execute("UPDATE topic_partition SET hot_offset = 5 WHERE topic_id = %s AND partition = 0", billing.topic_id)
    html = login("Viewer").get(url(billing)).content.decode()
    assert "<dd>unknown</dd>" in html


@pytest.mark.parametrize(("asked", "shown"), [("active", {"quick"}), ("paused", {"stopped"}), ("held", {"full"})])
def test_the_list_is_narrowed_by_state(login, topic, asked, shown):
    world.destination(topic, "quick")
    stopped = world.destination(topic, "stopped")
    Consumer.objects.filter(topic_id=topic.pk, consumer_id=stopped.consumer_id).update(paused_at=timezone.now())
    full = world.destination(topic, "full", window_size=3)
    world.events(topic, 5)
    world.lease(full, 0, 0, 3)
    for name in ("quick", "stopped"):
        world.execute(
            "UPDATE cursor SET position = 5 WHERE partition = 0 AND consumer_id = %s",
            Destination.objects.get(name=name).consumer_id,
        )
    html = login("Viewer").get(f"{LIST}?state={asked}").content.decode()
    assert {name for name in ("quick", "stopped", "full") if f">{name}<" in html} == shown


def test_the_list_is_narrowed_by_topic_and_type_and_searched(login, topic):
    world.destination(topic, "one")
    other = world.topic(name="other")
    world.destination(other, "two")
    client = login("Viewer")
    for asked in (f"topic__id__exact={other.pk}", "q=two", "q=other", "type__exact=DURABLE_CONSUMER&q=two&state="):
        html = client.get(f"{LIST}?{asked}").content.decode()
        assert ">two<" in html and ">one<" not in html


def test_pausing_says_what_will_happen_and_does_it_with_an_audit_record(login, billing):
    client = login("Operator")
    page = client.get(url(billing, "pause")).content.decode()
    assert "3 events leased now may still be acknowledged" in page
    assert "10 events wait to be settled" in page
    until = (timezone.now() + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M")
    answer = client.post(url(billing, "pause"), {"confirmed": "1", "reason": "deploy", "resume_at": until}, follow=True)
    assert "Paused billing." in answer.content.decode()
    paused = consumer(billing)
    assert paused.paused_at is not None and paused.pause_reason == "deploy" and paused.resume_at is not None
    entry = Audit.objects.get(verb="pause")
    assert (entry.object_kind, entry.object_name, entry.actor_name, entry.reason) == (
        "destination",
        "billing",
        "operator",
        "deploy",
    )
    assert "deploy" in client.get(url(billing)).content.decode()


def test_the_end_of_a_pause_is_taken_in_the_administrators_zone(login, billing):
    client = login("Operator")
    client.cookies["towpath_zone"] = "America/Chicago"
    client.post(url(billing, "pause"), {"confirmed": "1", "reason": "x", "resume_at": "2099-07-01T12:00"})
    assert consumer(billing).resume_at.isoformat() == "2099-07-01T17:00:00+00:00"


def test_resuming_says_what_waits(login, billing):
    client = login("Operator")
    client.post(url(billing, "pause"), {"confirmed": "1", "reason": "deploy"})
    assert "10 events wait; age of the oldest: 12 min" in client.get(url(billing, "resume")).content.decode()
    client.post(url(billing, "resume"), {"confirmed": "1", "reason": "deployed"})
    assert consumer(billing).paused_at is None
    assert Audit.objects.get(verb="resume").reason == "deployed"


@pytest.mark.parametrize("given", [{"reason": ""}, {"reason": "x", "resume_at": "2001-01-01T00:00"}, {"reason": "x" * 2001}])
def test_a_pause_without_a_reason_or_with_a_past_end_is_refused(login, billing, given):
    answer = login("Operator").post(url(billing, "pause"), {"confirmed": "1", **given})
    assert answer.status_code == 200
    assert consumer(billing).paused_at is None


def test_a_get_changes_nothing(login, billing):
    login("Operator").get(url(billing, "pause"), {"confirmed": "1", "reason": "x"})
    assert consumer(billing).paused_at is None


def test_a_button_that_would_do_nothing_is_disabled_with_the_reason(login, billing):
    client = login("Operator")
    assert "It is not paused." in client.get(url(billing)).content.decode()
    html = client.get(url(billing, "resume")).content.decode()
    assert "Nothing here is paused." in html and "disabled" in html
    client.post(url(billing, "resume"), {"confirmed": "1", "reason": "x"})
    assert not Audit.objects.filter(verb="resume").exists()


def test_a_viewer_sees_no_button_that_works_and_a_forged_post_is_403(login, billing):
    client = login("Viewer")
    html = client.get(url(billing)).content.decode()
    assert "Your role may not pause or resume." in html
    assert url(billing, "pause") not in html
    for verb in ("pause", "resume"):
        assert client.post(url(billing, verb), {"confirmed": "1", "reason": "x"}).status_code == 403
        assert client.get(url(billing, verb)).status_code == 403
    for action in ("pause_selected", "resume_selected", "delete_selected"):
        forged = {"action": action, "_selected_action": [billing.pk], "confirmed": "1", "reason": "x", "post": "yes"}
        assert client.post(LIST, forged).status_code == 403
    assert consumer(billing).paused_at is None
    assert Destination.objects.filter(pk=billing.pk).exists()


def test_several_are_paused_and_resumed_at_once(login, topic):
    made = [world.destination(topic, name) for name in ("a", "b", "c")]
    client = login("Operator")
    client.post(url(made[1], "pause"), {"confirmed": "1", "reason": "before"})
    chosen = {"action": "pause_selected", "_selected_action": [row.pk for row in made]}
    page = client.post(LIST, chosen).content.decode()
    assert "2 destinations hand out nothing more: a, c" in page
    assert "1 of the chosen stay as they are (paused already)" in page
    answer = client.post(LIST, {**chosen, "confirmed": "1", "reason": "night"}, follow=True)
    assert "Paused a, c." in answer.content.decode()
    assert [consumer(row).pause_reason for row in made] == ["night", "before", "night"]
    client.post(LIST, {**chosen, "action": "resume_selected", "confirmed": "1", "reason": "morning"})
    assert [consumer(row).paused_at for row in made] == [None, None, None]
    assert Audit.objects.filter(verb="resume").count() == 3


def test_every_text_on_the_page_is_escaped(login, billing):
    world.lease(billing, 1, 0, 1, worker=MARKUP, error=MARKUP)
    world.seen(billing, MARKUP)
    client = login("Operator")
    client.post(url(billing, "pause"), {"confirmed": "1", "reason": MARKUP})
    for path in (LIST, url(billing), url(billing, "live"), "/admin/leases/", "/admin/", f"/admin/leases/?worker={MARKUP}"):
        html = client.get(path).content.decode()
        assert "<script>alert" not in html, path
        assert "&lt;script&gt;alert" in html, path


def test_the_chart_shows_the_samples_and_leaves_gaps(login, billing):
    for minute, seconds in [(30, 10.0), (20, None), (10, 600.0)]:
        world.sample(billing, minute * 60, lag=minute * 1000, settled=minute, head=40_000, seconds=seconds)
    html = login("Viewer").get(url(billing)).content.decode()
    assert "highest: 30,000 events" in html and "highest: 10 min" in html
    assert html.count("<polyline") == 3


@pytest.mark.parametrize(("most", "said"), [(0, "0 events"), (1, "1 event")])
def test_the_scale_of_a_chart_says_no_more_than_was_seen(login, billing, most, said):
    world.sample(billing, 600, lag=most, settled=0, head=most, seconds=0.0)
    html = login("Viewer").get(url(billing)).content.decode()
    assert f"highest: {said}<" in html and "highest: 0 s<" in html


@pytest.mark.parametrize("span", ["1h", "24h", "7d", "forever", "'"])
def test_the_chart_reaches_back_as_far_as_asked(login, billing, span):
    world.sample(billing, 7200, lag=7777, settled=1, head=2)
    html = login("Viewer").get(f"{url(billing)}?span={span}").content.decode()
    assert ("7,777" in html) == (span in ("24h", "7d"))


def test_the_last_acknowledgement_is_read_from_the_samples(login, billing):
    for minute, settled in [(50, 1), (40, 5), (5, 5)]:
        world.sample(billing, minute * 60, lag=0, settled=settled, head=9)
    assert re.search("ack <time[^>]*>4[01] min", login("Viewer").get(LIST).content.decode())


def test_a_hundred_destinations_and_ten_thousand_leases_take_few_queries(login, at_most):
    topic = world.topic(partitions=8)
    for partition in range(8):
        world.events(topic, 500, partition=partition)
    made = [world.destination(topic, f"d-{number:03d}") for number in range(100)]
    world.many_leases(topic, 10_000)
    client = login("Operator")
    for path in (
        LIST,
        f"{LIST}?state=held",
        f"{LIST}?q=d-",
        url(made[0]),
        url(made[0], "live"),
        "/admin/leases/",
        "/admin/",
    ):
        with at_most(14):
            assert client.get(path).status_code == 200, path
    everything = {"action": "pause_selected", "_selected_action": [row.pk for row in made]}
    with at_most(14):
        assert "90 more" in client.post(LIST, everything).content.decode()


def test_leases_over_all_destinations_are_listed_page_by_page(login, topic):
    made = world.destination(topic, "billing")
    for number in range(150):
        world.lease(made, 0, number, 1, worker=f"w{number % 3}")
    client = login("Viewer")
    first = client.get("/admin/leases/")
    assert first.content.decode().count("billing") == 100
    rest = client.get(f"/admin/leases/?after={first.context['next']}")
    assert len(rest.context["leases"]) == 50 and rest.context["next"] == ""
    assert len(client.get("/admin/leases/?worker=w1").context["leases"]) == 50
    assert client.get("/admin/leases/?after=nonsense").status_code == 200


def test_leases_of_a_destination_just_deleted_are_still_listed(login, billing):
    Destination.objects.all().delete()
    html = login("Operator").get("/admin/leases/").content.decode()
    assert "worker-7" in html and "deleted" in html and "expire…" not in html


def test_a_destination_that_is_gone_is_a_404_for_humans(login):
    client = login("Operator")
    for path in (f"{LIST}999999/change/", f"{LIST}999999/pause/", f"{LIST}999999/live/", f"{LIST}{10**30}/pause/"):
        answer = client.get(path)
        assert answer.status_code == 404 and b"There is no such thing" in answer.content


def lease_url(destination, lease, verb: str) -> str:
    return f"{LIST}{destination.pk}/leases/{lease}/{verb}/"


def test_a_lease_is_expired_by_hand_and_its_worker_is_told(login, billing):
    held = world.lease(billing, 1, 0, 5, worker="worker-9", attempt=2)
    client, path = login("Operator"), lease_url(billing, held, "expire")
    assert path in client.get(url(billing)).content.decode()
    assert "5 events held by worker-9 (attempt 2)" in client.get(path).content.decode()
    answer = client.post(path, {"confirmed": "1", "reason": "it hangs"}, follow=True)
    assert "The lease of worker-9 is expired." in answer.content.decode()
    assert "by operator: it hangs" in answer.content.decode()
    (row,) = [row for row in leases(billing.topic_id, billing.consumer_id, limit=9) if row.id == held]
    assert row.state == "waiting"
    entry = Audit.objects.get(verb="expire")
    assert (entry.object_name, entry.reason, entry.actor_name) == ("billing", "it hangs", "operator")


def test_a_lease_is_extended_by_hand_unless_it_waits(login, billing):
    held = world.lease(billing, 1, 0, 5, worker="worker-9")
    waits = world.lease(billing, 1, 5, 5, state="waiting")
    client = login("Operator")
    client.post(lease_url(billing, held, "extend"), {"confirmed": "1", "reason": "long one", "seconds": "500"})
    (row,) = [row for row in leases(billing.topic_id, billing.consumer_id, limit=9) if row.id == held]
    assert 400 < (row.visible_at - timezone.now()).total_seconds() <= 500
    assert "there is nothing to extend" in client.get(lease_url(billing, waits, "extend")).content.decode()
    refused = client.post(lease_url(billing, held, "extend"), {"confirmed": "1", "reason": "x", "seconds": "601"})
    assert refused.status_code == 200
    assert Audit.objects.filter(verb="extend").count() == 1


def test_a_lease_is_parked_by_hand_and_its_letters_are_found(login, billing):
    world.events(billing.topic, 5, partition=1)
    held = world.lease(billing, 1, 0, 5, worker="worker-9", attempt=4)
    client, path = login("Operator"), lease_url(billing, held, "park")
    assert path in client.get("/admin/leases/").content.decode()
    assert "5 events (attempt 4) become dead letters" in client.get(path).content.decode()
    answer = client.post(path, {"confirmed": "1", "reason": "poison"}, follow=True)
    assert "Parked: 5 dead letters" in answer.content.decode()
    assert "Parked by an operator: poison" in client.get("/admin/dead-letters/").content.decode()


def test_groups_and_queues_stand_in_the_same_list(login, topic):
    made = world.destination(topic, "billing")
    world.lease(made, 0, 0, 1, worker="w1")
    group = world.group(topic, "readers")
    for partition in range(2):
        world.assign(group, partition, "member-1")
    queue = Queue.objects.create(name="mails")
    for number in range(150):
        world.claim(queue, f"w{number % 3}", ends_in=number)
    client = login("Viewer")
    first = client.get("/admin/leases/")
    assert [row.kind for row in first.context["leases"][:4]] == ["destination", "group", "group", "queue"]
    second = client.get(f"/admin/leases/?after={first.context['next']}")
    rows = [*first.context["leases"], *second.context["leases"]]
    assert len({row.position for row in rows}) == len(rows) == 153 and second.context["next"] == ""
    assert len(client.get("/admin/leases/?worker=w1&kind=queue").context["leases"]) == 50
    assert len(client.get("/admin/leases/?worker=w1").context["leases"]) == 51
    held = client.get("/admin/leases/?kind=group")
    assert len(held.context["leases"]) == 2 and f"{topic.name}/readers" in held.content.decode()


@pytest.mark.parametrize("cursor", ["WzEsIDEsIDEsICJ4Il0", "WzIsIDEsICJ4IiwgIngiXQ", "WzcsIDEsIDEsIDFd", "x", "W10"])
def test_a_cursor_of_elsewhere_begins_at_the_top(login, billing, cursor):
    answer = login("Viewer").get(f"/admin/leases/?after={cursor}")
    assert answer.status_code == 200 and len(answer.context["leases"]) == 1


@pytest.mark.parametrize("verb", ["expire", "extend", "park"])
def test_a_viewer_touches_no_lease_and_one_that_is_settled_is_a_404(login, billing, verb):
    held = world.lease(billing, 1, 0, 5)
    client = login("Viewer")
    assert "expire…" not in client.get(url(billing)).content.decode()
    assert client.post(lease_url(billing, held, verb), {"confirmed": "1", "reason": "x"}).status_code == 403
    world.execute("DELETE FROM lease")
    answer = login("Operator").get(lease_url(billing, held, verb))
    assert answer.status_code == 404
