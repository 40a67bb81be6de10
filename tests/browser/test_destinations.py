"""At three in the morning: find what stands still, see why, press the safe button."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.console import health
from apps.cursors.models import Consumer
from tests.browser.conftest import follow, photograph
from tests.console import world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stuck(server):
    """Seven are fine; billing is held up by a batch that fails again and again."""
    health.prove_beat()
    topic = world.topic(partitions=4, name="orders")
    for partition in range(4):
        world.events(topic, 400, partition=partition, age=5400)
    for number in range(6):
        made = world.destination(topic, f"shipping-{number}")
        world.execute("UPDATE cursor SET position = 400 WHERE consumer_id = %s", made.consumer_id)
    billing = world.destination(topic, "billing", window_size=500)
    world.execute("UPDATE cursor SET position = 300 WHERE consumer_id = %s", billing.consumer_id)
    world.lease(billing, 3, 120, 20, worker="worker-7", attempt=5, age=900, error="ValueError: <b>no</b> such order")
    for partition in range(3):
        world.lease(billing, partition, 250, 50, worker=f"worker-{partition}", age=20)
    world.seen(billing, "worker-7")
    for minute in range(60, 0, -1):
        world.sample(
            billing, minute * 60, lag=200 + (60 - minute) * 12, settled=900, head=1600, seconds=(60 - minute) * 90.0
        )
    return billing


def test_an_operator_finds_the_stuck_one_pauses_it_and_resumes_it(visit, stuck):
    page = visit("Operator")
    assert "cursor held at 003.00000000000000000120" in page.inner_text("#overview")
    photograph(page, "overview")
    page.click(".tp-attention a:text('billing')")
    text = page.inner_text("#destination")
    assert "attempt 5" in text and "worker-7" in text and "ValueError: <b>no</b> such order" in text
    assert "730" in text  # three times 150, and 280
    photograph(page, "destination")
    page.locator("tr", has_text="worker-7").locator("a:text('expire…')").click()
    assert "20 events held by worker-7 (attempt 5)" in page.inner_text(".tp-effects")
    photograph(page, "lease-expire")
    page.click("text=Cancel")
    page.locator("tr", has_text="worker-7").locator("a:text('park…')").click()
    assert "20 events (attempt 5) become dead letters" in page.inner_text(".tp-effects")
    photograph(page, "lease-park")
    page.click("text=Cancel")
    page.click("a:text('Pause…')")
    assert "170 events leased now may still be acknowledged" in page.inner_text(".tp-effects")
    page.fill("[name=reason]", "bad order, waiting for a fix")
    page.fill("[name=resume_at]", (timezone.now() + timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M"))
    photograph(page, "destination-pause")
    page.click("button:text('Pause')")
    assert "paused by operator until" in page.inner_text("#cause")
    assert "bad order, waiting for a fix" in page.inner_text("#cause")
    assert page.locator("button:text('Pause…')").is_disabled()
    photograph(page, "destination-paused")
    page.click("a:text('Resume…')")
    page.fill("[name=reason]", "fixed")
    photograph(page, "destination-resume")
    page.click("button:text('Resume')")
    assert "cursor held" in page.inner_text("#cause")
    assert Consumer.objects.get(consumer_id=stuck.consumer_id).paused_at is None


def test_an_admin_seeks_back_by_time_and_undoes_it(visit, stuck):
    page = visit("Admin")
    page.goto(f"/admin/destinations/destination/{stuck.pk}/change/")
    follow(page, "a:text('Seek…')")
    photograph(page, "seek")
    page.select_option("[name=to]", "time")
    page.fill("[name=time]", "2020-01-01T00:00:00")
    page.click("button:text('Preview')")
    assert "1,200 events that were handed out before will be delivered again." in page.inner_text(".tp-effects")
    assert "4 leases in the way end" in page.inner_text(".tp-effects")
    photograph(page, "seek-preview")
    page.fill("[name=reason]", "the parser was wrong")
    page.fill("[name=name]", "billing")
    page.click("button:text('Seek')")
    page.wait_for_selector("text=billing is moved.")
    photograph(page, "seek-done")
    page.click("a:text('undo…')")
    assert "003.00000000000000000120" in page.locator("[name=at] >> nth=3").input_value()
    page.fill("[name=reason]", "no, it was right")
    page.fill("[name=name]", "billing")
    page.click("button:text('Seek')")
    page.wait_for_selector("text=no, it was right")
    assert page.locator("a:text('undo…')").count() == 2


def test_a_page_renews_itself_and_says_when_it_could_not(visit, stuck):
    page = visit("Viewer")
    page.goto(f"/admin/destinations/destination/{stuck.pk}/change/")
    page.evaluate("document.querySelector('[data-refresh]').dataset.refreshSeconds = '0.2'")
    page.wait_for_function("document.querySelector('[data-refreshed]').textContent.startsWith('Refreshed at')")
    Consumer.objects.filter(consumer_id=stuck.consumer_id).update(paused_at=timezone.now(), pause_reason="by hand")
    page.wait_for_function("document.querySelector('#cause').textContent.includes('by hand')")
    page.context.clear_cookies()
    page.wait_for_function("document.querySelector('[data-refreshed]').textContent.includes('no longer logged in')")


def test_the_list_renews_its_cells_and_keeps_what_is_checked(visit, stuck):
    page = visit("Operator")
    page.goto("/admin/destinations/destination/")
    page.evaluate("document.querySelector('[data-refresh=list]').dataset.refreshSeconds = '0.3'")
    box = page.locator("tr", has_text="shipping-1").locator("input.action-select")
    box.check()
    Consumer.objects.filter(consumer_id=stuck.consumer_id).update(paused_at=timezone.now(), pause_reason="by hand")
    page.wait_for_function("document.querySelector('#result_list').textContent.includes('by hand')")
    assert box.is_checked()
    assert "Refreshed at" in page.inner_text("[data-refreshed]")


def test_several_are_paused_from_the_list(visit, stuck):
    page = visit("Operator")
    page.goto("/admin/destinations/destination/")
    photograph(page, "destinations")
    for name in ("shipping-1", "shipping-2"):
        page.locator("tr", has_text=name).locator("input.action-select").check()
    page.select_option("select[name=action]", "pause_selected")
    page.click("button:text('Run')")
    assert "shipping-1, shipping-2" in page.inner_text(".tp-effects")
    page.fill("[name=reason]", "night")
    page.click("button:text('Pause')")
    page.wait_for_selector("text=Paused shipping-1, shipping-2.")
    assert len(re.findall("paused by operator: night", page.inner_text("#changelist"))) == 2


def test_the_list_is_filtered_by_hand(visit, stuck):
    page = visit("Viewer")
    page.goto("/admin/destinations/destination/")
    page.click("a:text('Filters')")
    photograph(page, "destinations-filters")
    page.click("#changelist-filter >> text=held")
    page.wait_for_url("**state=held**")
    text = page.inner_text("#changelist")
    assert "billing" in text and "shipping-1" not in text


def test_a_viewer_sees_no_button_that_works(visit, stuck):
    page = visit("Viewer")
    page.goto(f"/admin/destinations/destination/{stuck.pk}/change/")
    for name in ("Pause…", "Resume…"):
        assert page.locator(f"button:text('{name}')").is_disabled()
    assert "Your role may not pause or resume." in page.inner_text("#destination")


def test_events_are_browsed_and_one_is_read(visit, stuck):
    world.event(stuck.topic, 400, '{"id":"e400","data":{"text":"<script>alert(1)</script>","n":[1,2,{"deep":1.10}]}}')
    page = visit("Admin")
    page.goto("/admin/topics/topic/")
    photograph(page, "topics")
    follow(page, "a:text('orders')")
    photograph(page, "topic")
    page.click("text=000.00000000000000000400")
    assert '"deep": 1.10' in page.inner_text(".tp-payload")
    photograph(page, "event")
    page.goto("/admin/leases/")
    photograph(page, "leases")


def test_times_are_the_administrators_own(visit, stuck):
    page = visit("Viewer", zone="America/Chicago")
    page.goto(f"/admin/destinations/destination/{stuck.pk}/change/")
    assert re.search(r"\d\d:\d\d:\d\d C[SD]T", page.inner_text("#destination"))
    assert "UTC" in page.locator("time").first.get_attribute("title")
