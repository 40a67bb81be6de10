"""Keys and the trail, by hand."""

import pytest

from tests.browser.conftest import follow, photograph

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_admin_makes_a_key_and_sees_it_once(visit):
    page = visit("Admin")
    photograph(page, "overview-empty")
    page.goto("/admin/access/apikey/")
    page.goto("/admin/access/apikey/add/")
    photograph(page, "key-new")
    page.fill("#id_name", "billing-worker")
    page.check("[name='read:events']")
    page.fill("[name='read:events:names']", "orders.*")
    page.click("text=Make the key")
    token = page.locator(".tp-secret").inner_text()
    assert token.startswith("tpk_")
    photograph(page, "key-shown")
    page.click("text=I have copied it")
    page.wait_for_selector("#result_list")
    assert token not in page.content()
    photograph(page, "keys")
    follow(page, "a:text('billing-worker')")
    photograph(page, "key")
    follow(page, "text=Revoke…")
    photograph(page, "key-revoke")
    page.fill("[name=reason]", "leaked in a log")
    page.click("button:text('Revoke')")
    page.wait_for_selector("text=The key billing-worker is revoked.")
    page.goto("/admin/access/audit/")
    photograph(page, "audit")
    follow(page, "th a:visible, td a:visible >> nth=0")
    photograph(page, "audit-entry")


def test_an_admin_makes_an_oauth_client_and_disables_it(visit):
    page = visit("Admin")
    page.goto("/admin/access/oauthclient/add/")
    page.fill("#id_name", "reports")
    page.check("[name='read:events']")
    page.click("text=Make the client")
    assert page.locator(".tp-secret").count() == 2
    photograph(page, "oauth-shown")
    page.click("text=I have copied it")
    follow(page, "a:text('reports')")
    photograph(page, "oauth")
    page.click("text=Disable…")
    page.fill("[name=reason]", "no longer used")
    page.click("button:text('Disable')")
    page.wait_for_selector("text=The OAuth client reports is disabled.")
