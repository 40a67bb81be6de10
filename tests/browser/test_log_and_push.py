"""A webhook that stands still, its dead letters, and a topic whose events lie on both sides of the seam."""

import pytest

from apps.destinations.models import Destination, PushState, Type
from apps.topics.models import Sweep
from tests.browser.conftest import follow, photograph
from tests.console import world
from tests.factories import Api, api_key
from tests.topics.cold import publish, sweep, topic_of, use_store

pytestmark = pytest.mark.django_db(transaction=True)
LONG = "answered 503: " + "https://billing.example.com/hooks/orders/" * 6


@pytest.fixture
def hook(server):
    topic = world.topic(partitions=4, name="orders")
    world.events(topic, 300, age=600)
    made = world.destination(topic, "billing-hook")
    target = {"url": "https://billing.example.com/hooks/" + "orders-" * 15, "timeoutSeconds": 5, "maxBatchSize": 100}
    Destination.objects.filter(pk=made.pk).update(type=Type.WEBHOOK, settings={"webhook": target})
    PushState.objects.create(
        destination=made, failures=7, held_code="breaker_open", held_text=LONG, held_since="2026-01-01T00:00:00Z",
        failing_since="2026-01-01T00:00:00Z", next_attempt_at="2026-01-01T00:05:00Z", last_error=LONG,
    )  # fmt: skip
    for number in range(5):
        world.attempt(made, webhook_id=f"{made.uid}/000.{number:020d}", error=LONG, answer="<html>" + "x" * 300)
        world.dead_letter(made, number, error=f"{LONG} {number}", age=7200)
    return made


@pytest.fixture
def log(server, tmp_path, settings):
    settings.TOWPATH = dict(settings.TOWPATH)
    use_store(tmp_path / "cold")
    api = Api(api_key())
    topic = topic_of(api, partitions=2, hot_records=40)
    publish(api, topic, 120, subject="an order with a long subject " * 8)
    sweep(topic)
    problems = ["object missing: segments/" + "0123456789abcdef" * 10]
    Sweep.objects.filter(topic=topic).update(failures=3, error=LONG, problems=problems)
    for number in range(3):
        group = world.group(topic, f"readers-{number}")
        world.assign(group, 0, f"member-{number}-" + "of-the-second-data-centre-" * 4)
    return topic


def test_a_webhook_says_where_it_pushes_and_what_is_wrong(visit, hook):
    page = visit("Admin")
    page.goto(f"/admin/destinations/destination/{hook.pk}/change/")
    text = page.inner_text("#destination")
    assert "open since" in text and "answered 503" in text and "billing.example.com" in text
    photograph(page, "webhook")
    follow(page, "a:text('Send test event…')")
    photograph(page, "webhook-test")
    page.click("text=Cancel")
    page.click("a:text('Send an event again…')")
    page.fill("[name=sequence]", "17")
    page.click("button:text('Send')")
    page.wait_for_selector("text=Must be a sequence")
    photograph(page, "webhook-resend-refused")


def test_the_dead_letters_of_a_destination_are_looked_at_from_its_page(visit, hook):
    page = visit("Admin")
    page.goto(f"/admin/destinations/destination/{hook.pk}/change/")
    letters = page.locator("section", has=page.locator("#letters"))
    assert "000.00000000000000000004" in letters.inner_text()
    follow(page, letters.locator("a:text('redrive…')"))
    photograph(page, "letter-redrive")
    page.click("text=Cancel")
    follow(page, page.locator("a:text('discard…')"))
    photograph(page, "letter-discard")
    page.fill("[name=reason]", "sent by hand")
    page.locator("form button[type=submit].tp-button").click()
    page.wait_for_selector("#destination")
    assert "sent by hand" in page.inner_text("#destination")


def test_events_are_browsed_from_cold_storage_into_the_hot_rows(visit, log):
    page = visit("Admin")
    page.goto(f"/admin/topics/topic/{log.pk}/change/")
    text = page.inner_text("#content-main, main")
    assert "The last 3 sweeps failed" in text and "object missing" in text
    photograph(page, "topic-cold")
    follow(page, page.locator("section", has=page.locator("#cold")).locator("tbody tr", has_text="KiB").first.locator("a"))
    photograph(page, "topic-cold-events")
    for start in (50, 80):
        page.click("a:text('Later, from')")
        page.wait_for_url(f"**start={start}&**")
    photograph(page, "topic-hot-events")
    assert "119" in page.locator("#events ~ div td a").last.inner_text()
    follow(page, "a:text('Its consumer groups')")
    photograph(page, "groups")
    follow(page, "a:text('readers-1')")
    photograph(page, "group")
