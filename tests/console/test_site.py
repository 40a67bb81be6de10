"""The admin site as such: who gets in, what every page says to the browser, what it needs from elsewhere (nothing)."""

import re
from contextlib import closing
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Group, Permission
from django.contrib.staticfiles import finders
from django.utils import timezone

from apps.console.models import Role
from core.words import age, count, counted, moment, size
from tests.console import world

pytestmark = pytest.mark.django_db


def test_the_roles_hold_what_their_names_say(roles):
    held = {group.name: set(group.permissions.values_list("codename", flat=True)) for group in Group.objects.all()}
    assert held["Viewer"] == {"view_console"}
    assert held["Operator"] == {"view_console", "pause", "redrive", "settle_leases"}
    assert held["Admin"] == {codename for codename, _ in Role._meta.permissions}


def test_the_migration_names_the_permissions_as_the_model_does(roles):
    kept = dict(Permission.objects.filter(content_type__model="role").values_list("codename", "name"))
    assert kept == dict(Role._meta.permissions)


@pytest.mark.parametrize("role", ["Viewer", "Operator", "Admin"])
def test_every_role_sees_the_overview(login, role):
    answer = login(role).get("/admin/")
    assert answer.status_code == 200
    assert b"Needs attention" in answer.content


def test_a_staff_account_without_a_role_is_sent_to_the_login(login):
    answer = login(None).get("/admin/")
    assert answer.status_code == 302
    assert answer.url.startswith("/admin/login/")


@pytest.mark.parametrize("path", ["/", "/admin"])
def test_an_address_typed_by_hand_leads_to_the_admin(client, path):
    assert client.get(path).url == "/admin/"


def test_nobody_logged_in_sees_nothing_but_the_login(client):
    for path in ("/admin/", "/admin/overview/live/", "/admin/nothing/"):
        assert client.get(path).url.startswith("/admin/login/")


def test_pages_load_nothing_from_elsewhere_and_run_no_inline_script(login):
    answer = login("Admin").get("/admin/")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'self' 'unsafe-eval'" in policy
    html = answer.content.decode()
    assert not re.search(r"(src|href)=\"(https?:)?//", html)
    assert re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", html) == []
    assert re.search(r"\son(click|load|error)=", html) is None


def test_every_static_file_a_page_names_is_served_with_debug_off(login, client, settings):
    assert settings.DEBUG is False
    html = login("Admin").get("/admin/").content.decode() + client.get("/admin/login/").content.decode()
    named = set(re.findall(r"(?:src|href)=\"(/static/[^\"]+)\"", html))
    assert "/static/console/console.css" in named and "/static/console/console.js" in named
    for path in named:
        with closing(client.get(path)) as answer:
            assert answer.status_code == 200, path
        assert finders.find(path.removeprefix("/static/"))


def test_answers_are_not_kept_by_caches_and_not_framed(login):
    answer = login("Viewer").get("/admin/")
    assert "no-store" in answer.headers["Cache-Control"]
    assert answer.headers["X-Frame-Options"] == "DENY"


def test_the_api_is_left_alone(client):
    assert "Content-Security-Policy" not in client.get("/v1/nothing").headers


def test_an_unknown_page_says_so_to_a_human(login):
    answer = login("Viewer").get("/admin/nothing/")
    assert answer.status_code == 404
    assert answer.headers["Content-Type"].startswith("text/html")
    assert b"There is no such thing" in answer.content


@pytest.mark.parametrize("zone", ["../../etc/passwd", "Nowhere/Land", "", "\u00e9", "UTC" * 100])
def test_a_nonsense_zone_changes_nothing(login, zone):
    client = login("Viewer")
    client.cookies["towpath_zone"] = zone
    assert client.get("/admin/").status_code == 200


def test_ages_are_words_and_unknown_is_never_zero():
    assert [age(n) for n in (None, -3, 0, 59.9, 60, 725, 7200, 93_600, 10**9)] == [
        "unknown", "0 s", "0 s", "59 s", "1 min", "12 min 5 s", "2 h", "1 d 2 h", "11,574 d 1 h",
    ]  # fmt: skip
    assert count(None) == size(None) == "unknown"
    assert (size(1023), size(1536), size(5 * 2**40)) == ("1023 B", "1.5 KiB", "5.0 TiB")
    assert (counted(1, "event"), counted(2000, "event"), counted(0, "is", "are")) == ("1 event", "2,000 events", "0 are")


@pytest.mark.parametrize("zone", ["America/Chicago", "Pacific/Kiritimati", "UTC"])
@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00", "2026-11-29T12:00:00+00:00"])
def test_every_time_can_be_shown_in_every_zone(zone, text):
    with timezone.override(ZoneInfo(zone)):
        assert "UTC" in moment(datetime.fromisoformat(text))


@pytest.mark.django_db(transaction=True)
def test_a_database_that_takes_no_writes_is_said_to_a_human(login):
    destination = world.destination(world.topic(), "orders")
    client, path = login("Admin"), f"/admin/destinations/destination/{destination.pk}/pause/"
    world.execute("SET default_transaction_read_only = on")
    asked = {"confirmed": "1", "reason": "why not"}
    refused = client.post(path, asked)
    assert refused.status_code == 503 and b"The database cannot be reached" in refused.content
    assert client.post(path, asked).status_code == 302


PEOPLE = ["/admin/auth/user/", "/admin/auth/user/add/", "/admin/auth/group/"]


@pytest.mark.parametrize("path", PEOPLE)
def test_only_a_superuser_sees_and_grants_roles(login, person, client, path):
    assert login("Admin").get(path).status_code == 403
    client.force_login(person("root", is_superuser=True))
    assert client.get(path).status_code == 200


def test_beat_is_seen_but_not_changed_here(login):
    client = login("Admin")
    assert client.get("/admin/django_celery_beat/periodictask/").status_code == 200
    assert client.get("/admin/django_celery_beat/periodictask/add/").status_code == 403
