"""API keys and the audit trail in the admin."""

import html
import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application

from apps.access import audit, operations
from apps.access.models import ApiKey, Audit, OAuthClient
from apps.access.scopes import Grant
from core.ids import uuid7
from tests.factories import Api

pytestmark = pytest.mark.django_db
MARKUP = "<script>alert(1)</script>&\"'"


@pytest.fixture
def key(db):
    return operations.create_api_key("billing", [Grant("read:events", ("orders.*",))])[0]


def new_key(client, **fields):
    return client.post(
        "/admin/access/apikey/add/",
        {"confirmed": "1", "name": "billing", "read:events": "on", "read:events:names": "orders.* billing/*", **fields},
    )


def test_a_key_made_here_is_shown_once_and_works(login):
    client = login("Admin")
    html = new_key(client).content.decode()
    token = re.search(r"tpk_[\w-]{20,}", html)[0]
    made = ApiKey.objects.get()
    assert made.grants == [{"scope": "read:events", "patterns": ["orders.*", "billing/*"]}]
    assert Api(token).get("/v1/nothing").status_code == 404
    for path in ("/admin/access/apikey/", f"/admin/access/apikey/{made.pk}/change/"):
        page = client.get(path).content.decode()
        assert f"tpk_{made.prefix}…" in page
        assert token not in page


def test_making_a_key_is_on_the_trail_in_the_name_of_the_person(login):
    new_key(login("Admin"))
    entry = Audit.objects.get()
    assert (entry.verb, entry.object_name, entry.actor_kind, entry.actor_name) == ("create", "billing", "user", "admin")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "a/b"}, "are allowed"),
        ({"read:events": ""}, "At least one scope is needed"),
        ({"read:events:names": "a b/c/d"}, "is no pattern"),
        ({"expires_at": "2001-01-01T00:00"}, "This time has passed"),
        ({"expires_at": "whenever"}, "Enter a valid date/time"),
    ],
)
def test_a_key_that_cannot_be_made_is_refused_with_the_reason(login, fields, said):
    answer = new_key(login("Admin"), **fields)
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert not ApiKey.objects.exists()


def test_a_taken_name_is_said_in_the_form(login, key):
    assert "There is an API key" in new_key(login("Admin")).content.decode()


def test_rotating_shows_a_new_secret_and_ends_the_old_one(login, key):
    old = key.prefix
    answer = login("Admin").post(f"/admin/access/apikey/{key.pk}/rotate/", {"confirmed": "1"})
    key.refresh_from_db()
    assert key.prefix != old
    assert f"tpk_{key.prefix}" in answer.content.decode()


def test_revoking_asks_for_a_reason_and_says_what_it_means(login, key):
    client, path = login("Admin"), f"/admin/access/apikey/{key.pk}/revoke/"
    assert "refused within 5 seconds" in client.get(path).content.decode()
    client.post(path, {"confirmed": "1", "reason": ""})
    assert ApiKey.objects.get().revoked_at is None
    answer = client.post(path, {"confirmed": "1", "reason": "leaked"}, follow=True)
    assert ApiKey.objects.get().revoked_at is not None
    assert Audit.objects.get(verb="revoke").reason == "leaked"
    assert "The key billing is revoked." in answer.content.decode()
    assert "disabled" in client.get(path).content.decode()


@pytest.mark.parametrize("verb", ["rotate", "revoke"])
@pytest.mark.parametrize("role", ["Viewer", "Operator"])
def test_a_forged_post_changes_nothing(login, key, role, verb):
    answer = login(role).post(f"/admin/access/apikey/{key.pk}/{verb}/", {"confirmed": "1", "reason": "x"})
    assert answer.status_code == 403
    assert b"Your role does not allow this" in answer.content
    key.refresh_from_db()
    assert key.revoked_at is None


def test_a_viewer_cannot_make_a_key(login):
    assert new_key(login("Viewer")).status_code == 403
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("state", ["live", "expired", "revoked"])
def test_keys_are_found_by_state(login, key, state):
    expired = operations.create_api_key("old", [Grant("read:events")])[0]
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(days=1))
    operations.revoke_api_key(operations.create_api_key("gone", [Grant("read:events")])[0])
    html = login("Viewer").get(f"/admin/access/apikey/?state={state}").content.decode()
    shown = {name for name in ("billing", "old", "gone") if f">{name}<" in html}
    assert shown == {"live": {"billing"}, "expired": {"old"}, "revoked": {"gone"}}[state]


def test_the_trail_shows_before_and_after_and_escapes_all_of_it(login):
    audit.record(
        None, MARKUP, "topic", MARKUP, before={MARKUP: MARKUP, "same": 1}, after={MARKUP: [MARKUP], "new": None},
        reason=MARKUP, request_id=MARKUP,
    )  # fmt: skip
    client = login("Viewer")
    for path in ("/admin/access/audit/", f"/admin/access/audit/{Audit.objects.get().pk}/change/"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.content.decode()
        assert "&lt;script&gt;alert" in answer.content.decode()


def test_the_trail_cannot_be_changed(login, db):
    audit.record(None, "pause", "topic", "orders")
    client, pk = login("Admin"), Audit.objects.get().pk
    assert client.post(f"/admin/access/audit/{pk}/delete/", {"post": "yes"}).status_code == 403
    assert client.get("/admin/access/audit/add/").status_code == 403
    client.post(f"/admin/access/audit/{pk}/change/", {"verb": "resume"})
    assert Audit.objects.get().verb == "pause"


def test_a_long_trail_is_listed_in_few_queries_without_a_count(login, at_most):
    for number in range(150):
        audit.record(None, "pause", "topic", f"orders-{number}")
    client = login("Viewer")
    with at_most(12):
        assert client.get("/admin/access/audit/").status_code == 200
    assert client.get("/admin/access/audit/?p=3").content.decode().count("orders-") >= 50
    assert client.get("/admin/access/audit/?p=999999999").status_code == 302


def test_the_trail_is_narrowed_by_kind_without_reading_all_of_it(login, at_most):
    audit.record(None, "pause", "topic", "orders")
    audit.record(None, "pause", "queue", "mails")
    client = login("Viewer")
    with at_most(12):
        html = client.get("/admin/access/audit/?kind=queue&area=queues").content.decode()
    assert "queue mails" in html and "topic orders" not in html


@pytest.mark.parametrize("name", ["accesstoken", "application", "grant", "idtoken", "refreshtoken"])
def test_tokens_are_not_shown_by_what_the_toolkit_would_register(client, person, name):
    client.force_login(person("root", is_superuser=True))
    assert client.get(f"/admin/oauth2_provider/{name}/").status_code == 404


def test_oauth_clients_are_listed_without_secrets(login):
    application = Application.objects.create(
        name="reports", client_type="confidential", authorization_grant_type="client-credentials", client_secret="hush-hush"
    )
    made = OAuthClient.objects.create(
        uid=uuid7(), application=application, name="reports", grants=[{"scope": "read:events", "patterns": [MARKUP]}]
    )
    client = login("Viewer")
    for path in ("/admin/access/oauthclient/", f"/admin/access/oauthclient/{made.pk}/change/"):
        html = client.get(path).content.decode()
        assert application.client_id in html and "read:events" in html
        assert "hush-hush" not in html and application.client_secret not in html and "<script>alert" not in html


@pytest.fixture
def reports(db):
    return operations.create_oauth_client("reports", [Grant("read:events", ("orders.*",))])[0]


def new_oauth_client(client, **fields):
    given = {"confirmed": "1", "name": "reports", "read:events": "on", "read:events:names": "orders.*", **fields}
    return client.post("/admin/access/oauthclient/add/", given)


def test_an_oauth_client_made_here_gets_a_token_with_what_is_shown_once(login):
    client = login("Admin")
    shown = re.findall(r'class="tp-secret">([^<]+)<', new_oauth_client(client).content.decode())
    credentials = dict(zip(("client_id", "client_secret"), map(html.unescape, shown), strict=True))
    asked = urlencode({"grant_type": "client_credentials", "scope": "read:events", **credentials})
    answer = Api().post("/oauth/token", asked, content_type="application/x-www-form-urlencoded")
    assert answer.json()["scope"] == "read:events"
    made = OAuthClient.objects.get()
    assert made.grants == [{"scope": "read:events", "patterns": ["orders.*"]}]
    assert credentials["client_secret"] not in client.get(f"/admin/access/oauthclient/{made.pk}/change/").content.decode()
    assert Audit.objects.get().actor_name == "admin"


@pytest.mark.parametrize("keep", [False, True])
def test_a_rotated_secret_is_shown_once_and_works(login, reports, keep):
    client, path = login("Admin"), f"/admin/access/oauthclient/{reports.pk}/rotate/"
    AccessToken.objects.create(application=reports.application, token="t", expires=timezone.now() + timedelta(hours=1))
    before = Application.objects.get().client_secret
    assert "refused within 5 seconds" in client.get(path).content.decode()
    assert Application.objects.get().client_secret == before
    answer = client.post(path, {"confirmed": "1", **({"keep_tokens": "on"} if keep else {})})
    assert "reports has a new secret." in answer.content.decode()
    shown = re.findall(r'class="tp-secret">([^<]+)<', answer.content.decode())
    credentials = dict(zip(("client_id", "client_secret"), map(html.unescape, shown), strict=True))
    assert AccessToken.objects.count() == keep
    asked = urlencode({"grant_type": "client_credentials", "scope": "read:events", **credentials})
    answer = Api().post("/oauth/token", asked, content_type="application/x-www-form-urlencoded")
    assert answer.json()["scope"] == "read:events"
    assert credentials["client_secret"] not in client.get(f"/admin/access/oauthclient/{reports.pk}/change/").content.decode()
    assert Audit.objects.get(verb="rotate").actor_name == "admin"


@pytest.mark.parametrize(("verb", "left"), [("disable", "disabled"), ("enable", "in force"), ("remove", None)])
def test_an_oauth_client_is_disabled_enabled_and_deleted_with_a_reason(login, reports, verb, left):
    client, path = login("Admin"), f"/admin/access/oauthclient/{reports.pk}/{verb}/"
    if verb == "enable":
        operations.disable_oauth_client(reports)
    assert client.post(path, {"confirmed": "1", "reason": ""}).status_code == 200
    client.post(path, {"confirmed": "1", "reason": "moved"})
    remaining = OAuthClient.objects.first()
    assert left == (remaining and ("disabled" if remaining.disabled_at else "in force"))
    assert Audit.objects.order_by("-id").first().reason == "moved"


def test_an_oauth_client_in_force_cannot_be_enabled(login, reports):
    html = login("Admin").get(f"/admin/access/oauthclient/{reports.pk}/enable/").content.decode()
    assert "It is in force." in html and "disabled" in html


@pytest.mark.parametrize("role", ["Viewer", "Operator"])
def test_only_the_role_admin_changes_oauth_clients(login, reports, role):
    client = login(role)
    assert new_oauth_client(client, name="other").status_code == 403
    before = Application.objects.get().client_secret
    for verb in ("rotate", "disable", "enable", "remove"):
        answer = client.post(f"/admin/access/oauthclient/{reports.pk}/{verb}/", {"confirmed": "1", "reason": "x"})
        assert answer.status_code == 403
    assert OAuthClient.objects.get().disabled_at is None
    assert Application.objects.get().client_secret == before
