"""What was given up is found by its error, looked at, and handed out again; all of it at once, watched."""

import pytest

from apps.console.operations import advance_bulk
from apps.leases.models import DeadLetter
from apps.queues.models import Queue
from tests.browser.conftest import follow, photograph
from tests.console import world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def given_up(server):
    billing = world.destination(world.topic(name="orders"), "billing")
    for number in range(40):
        world.dead_letter(
            billing, number, error=f"ConnectionRefusedError: billing:{number} refused the connection", age=7200
        )
    world.dead_letter(billing, 90, error="ValueError: <b>no</b> such order " + "long " * 60)
    mails = Queue.objects.create(name="mails")
    world.dead_event(mails, error="SMTP 421: try again later", payload='{"to":"anna@example.com"}')
    return billing


def test_an_operator_redrives_all_of_one_error_and_watches(visit, given_up):
    page = visit("Operator")
    follow(page, page.get_by_role("link", name="Dead letters"))
    photograph(page, "dead-letters")
    follow(page, "a:text('ConnectionRefusedError')")
    photograph(page, "dead-letters-error")
    page.click("a:text('redrive…')")
    assert "40 dead letters of destinations match" in page.inner_text(".tp-effects")
    page.fill("[name=reason]", "billing is back")
    page.fill("[name=rate]", "4")
    photograph(page, "bulk-begin")
    page.click("button:text('Redrive 40 items')")
    page.wait_for_selector("text=Running: 0 of 40")
    photograph(page, "bulk-running")
    advance_bulk.advance()
    page.wait_for_selector("text=Running: 20 of 40")
    page.click("text=Cancel the rest…")
    page.fill("[name=reason]", "too many at once")
    page.click("button:text('Cancel the rest')")
    page.wait_for_selector("text=Cancelled: 20 of 40")
    photograph(page, "bulk-cancelled")
    assert DeadLetter.objects.filter(state="redriven").count() == 20
    page.goto("/admin/console/bulk/")
    photograph(page, "bulks")
    follow(page, "a:text('Begin one…')")
    photograph(page, "bulk-new")


def test_an_admin_edits_one_and_sends_it_again(visit, given_up):
    page = visit("Admin")
    page.goto("/admin/dead-letters/")
    page.click("a:text('ValueError')")
    follow(page, "a:text('000.00000000000000000090')")
    photograph(page, "dead-letter")
    page.click("a:text('Edit and resubmit…')")
    text = page.input_value("[name=event]")
    page.fill("[name=event]", text.replace('"n": 90', '"n": 91'))
    page.fill("[name=reason]", "wrong number")
    photograph(page, "dead-letter-edit")
    page.click("button:text('Publish')")
    page.wait_for_selector("text=Published as")
    assert not DeadLetter.objects.filter(offset=90).exists()
    photograph(page, "dead-letter-gone")
