"""From a list as it is filtered to the bulk operation on all of it: the same rows, neither more nor fewer."""

import html
import re

import pytest
from django.utils import timezone

from apps.console.models import Bulk
from apps.console.operations import advance_bulk
from apps.cursors.models import Consumer
from apps.destinations.models import Destination, Type
from apps.queues.models import Queue
from tests.console import world

pytestmark = pytest.mark.django_db
LIST = "/admin/destinations/destination/"


@pytest.fixture
def six(db):
    """Of two topics; one is a webhook, one is paused, one's name would mean something in a URL."""
    orders, mails = world.topic(name="orders"), world.topic(name="mails")
    made = [world.destination(orders, name) for name in ("billing", "shipping", "stock:1")]
    made += [world.destination(mails, name) for name in ("mail-billing", "news", "hook")]
    Destination.objects.filter(name="hook").update(type=Type.WEBHOOK, settings={"webhook": {"url": "https://example.com"}})
    stopped = Consumer.objects.filter(consumer_id=made[1].consumer_id)
    stopped.update(paused_at=timezone.now(), pause_reason="night")
    return made


def link(page: str, verb: str) -> str | None:
    found = re.search(rf'href="(/admin/console/bulk/new/\?verb={verb}&amp;[^"]*)"', page)
    return found and html.unescape(found[1])


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("", {"billing", "stock:1", "mail-billing", "news", "hook"}),
        ("?topic__id__exact={mails}", {"mail-billing", "news", "hook"}),
        ("?type__exact=WEBHOOK", {"hook"}),
        ("?state=active&q=billing&o=-1&p=1", {"billing", "mail-billing"}),
        ("?q=bill+orders", {"billing"}),
        ("?q=%22stock:1%22&state=", {"stock:1"}),
        ("?q=ORDERS&type__exact=DURABLE_CONSUMER", {"billing", "stock:1"}),
    ],
)
def test_all_that_the_list_shows_is_paused_and_nothing_else(login, six, asked, names):
    client = login("Operator")
    path = LIST + asked.format(mails=six[3].topic_id)
    begin = link(client.get(path).content.decode(), "pause")
    page = html.unescape(client.get(begin).content.decode())
    assert f"{len(names)} destinations match" in page and all(name in page for name in names)
    answer = client.post(begin, {"confirmed": "1", "reason": "maintenance"})
    assert answer.status_code == 302 and Bulk.objects.get().total == len(names)
    advance_bulk.advance()
    paused = Consumer.objects.filter(pause_reason__startswith="maintenance").values_list("name", flat=True)
    assert set(paused) == names


def test_all_that_are_paused_are_resumed(login, six):
    client = login("Operator")
    begin = link(client.get(f"{LIST}?state=paused").content.decode(), "resume")
    client.post(begin, {"confirmed": "1", "reason": "morning"})
    advance_bulk.advance()
    assert not Consumer.objects.exclude(paused_at=None).exists()


@pytest.mark.parametrize("asked", ["?name__startswith=b", "?topic__id__exact=999999", "?topic__id__exact=x%00"])
def test_a_list_that_no_bulk_operation_can_be_filtered_like_offers_none(login, six, asked):
    page = login("Operator").get(LIST + asked, follow=True)
    if "cannot be filtered like this" not in page.content.decode():
        assert page.redirect_chain or page.status_code == 400  # refused as a filter of the list itself
        return
    assert link(page.content.decode(), "pause") is None


def test_a_viewer_is_offered_none(login, six):
    page = login("Viewer").get(LIST).content.decode()
    assert link(page, "pause") is None and link(page, "resume") is None
    assert "Your role may not pause or resume." in page


def test_all_dead_letters_of_a_kind_or_of_one_home_are_found_from_their_lists(login, six):
    for number in range(3):
        world.dead_letter(six[0], number, error=f"error {'abc'[number]}")
    world.dead_letter(six[3], 1)
    queue = Queue.objects.create(name="jobs")
    world.dead_event(queue)
    client = login("Admin")
    page = client.get("/admin/dead-letters/").content.decode()
    of_one = client.get(f"{LIST}{six[0].pk}/change/").content.decode()
    of_queue = client.get(f"/admin/queues/queue/{queue.pk}/change/?state=dead").content.decode()
    for source, objects, name, number in (
        (page, "dead-letters", "", 4),
        (page, "queue-dead-letters", "", 1),
        (of_one, "dead-letters", "billing", 3),
        (of_queue, "queue-dead-letters", "jobs", 1),
    ):
        for verb in ("redrive", "discard"):
            query = f"?verb={verb}&objects={objects}&name={name}&fingerprint="
            assert f'"/admin/console/bulk/new/{query}"' in html.unescape(source), query
            assert f"{number} dead letters of" in client.get(f"/admin/console/bulk/new/{query}").content.decode()


def test_a_viewer_is_offered_no_dead_letters(login, six):
    world.dead_letter(six[0], 1)
    client = login("Viewer")
    for path in ("/admin/dead-letters/", f"{LIST}{six[0].pk}/change/"):
        assert "/admin/console/bulk/new/" not in client.get(path).content.decode()


def test_programs_search_alike(api, six):
    wanted = {"verb": "pause", "objects": "destinations", "filter": {"search": "bill orders"}, "dryRun": True}
    answer = api.post("/v1/bulk-operations", wanted).json()
    assert [each["name"] for each in answer["sample"]] == ["billing"]
    refused = api.post("/v1/bulk-operations", {**wanted, "objects": "queues"})
    assert (refused.status_code, refused.json()["error"]["details"]["field"]) == (400, "filter.search")


def test_more_than_it_can_look_at_is_said_and_not_cut_off(api, six, monkeypatch):
    monkeypatch.setattr("apps.console.selectors.matching.HOMES", 3)
    wanted = {"verb": "pause", "objects": "destinations", "dryRun": True}
    refused = api.post("/v1/bulk-operations", wanted)
    assert refused.status_code == 400 and "More than 3 match" in refused.json()["error"]["message"]
    assert api.post("/v1/bulk-operations", {**wanted, "filter": {"topic": "mails"}}).json()["matching"] == 3
