"""A channel followed in a real browser, by the client that the platform serves, from a real server (streams need one)."""

import tempfile
import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection
from msgspec import Raw

from apps.channels.models import Channel
from apps.channels.operations.delete import delete
from apps.channels.operations.publish import Target, publish
from tests.browser.conftest import follow, photograph

pytestmark = pytest.mark.django_db(transaction=True)
MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture
def page(visit_real):
    return visit_real("Admin", name="ana")


def progress(state: str, data: str = "null") -> None:
    """In a thread: Playwright's event loop is in this one."""

    def work() -> None:
        publish([Target("job:42", {"job": Raw(b'{"state": "%s"}' % state.encode())})], f"job.{state}", data)
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_channel_is_followed_live(page, real_server):
    progress("queued", f'{{"by": "{MARKUP}"}}')
    channel = Channel.objects.get(name="job:42")
    page.goto("/admin/channels/channel/")
    photograph(page, "channels")
    follow(page, "a:text('job:42')")
    photograph(page, "channel")
    page.click("text=Follow live")
    page.wait_for_selector("#follow[data-state=live]")
    assert page.inner_text("#follow-sequence") == "1"
    assert '"state": "queued"' in page.inner_text("#follow-documents")
    progress("running", f'"{MARKUP}"')
    page.wait_for_selector("#follow-events td:text('job.running')")
    assert page.inner_text("#follow-count") == "1"
    assert page.locator("#follow-events img").count() == 0
    photograph(page, "channel-follow")
    delete(None, "job:42")
    page.wait_for_selector("#follow-snapshots:text('2')")
    progress("succeeded")
    page.wait_for_selector("#follow-events td:text('job.succeeded')")
    assert page.inner_text("#follow-sequence") == "4"
    page.goto(f"/admin/channels/channel/{channel.pk}/change/")
    assert "admin:ana" in page.inner_text("#content-main")


def test_the_page_goes_on_after_the_server_was_away(page, real_server):
    progress("queued")
    channel = Channel.objects.get(name="job:42")
    page.goto(f"/admin/channels/channel/{channel.pk}/follow/")
    page.wait_for_selector("#follow[data-state=live]")
    real_server.stop()
    page.wait_for_selector("#follow[data-state=waiting], #follow[data-state=connecting]")
    progress("running")
    progress("succeeded")
    real_server._log = tempfile.TemporaryFile()
    real_server.start()
    page.wait_for_selector("#follow-events td:text('job.succeeded')")
    assert page.inner_text("#follow-count") == "2"
    assert page.inner_text("#follow-snapshots") == "1"


def test_a_revoked_follower_is_told_and_stops(page, real_server):
    progress("queued")
    channel = Channel.objects.get(name="job:42")
    page.goto(f"/admin/channels/channel/{channel.pk}/follow/")
    page.wait_for_selector("#follow[data-state=live]")
    other = page.context.new_page()
    other.goto(f"/admin/channels/channel/{channel.pk}/change/")
    other.click("a:text('All of the subject')")
    photograph(other, "grant-revoke-all")
    other.fill("[name=reason]", "left the team")
    other.click("button:text('Revoke all')")
    page.wait_for_selector("#follow[data-state=stopped]")
    assert "ACCESS_REVOKED" in page.inner_text("#follow-state")
    assert User.objects.filter(username="ana").exists()
