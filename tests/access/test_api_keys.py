import hashlib
from datetime import timedelta

import pytest
from django.test import RequestFactory
from django.utils import timezone

from apps.access import credentials, operations
from apps.access.api.authentication import BearerAuthentication
from apps.access.models import ApiKey, Audit
from apps.access.scopes import Grant
from core.errors import Conflict, InvalidField, NameTaken, Unauthenticated
from tests.factories import grants, unique

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def other_process():
    """Nothing is cached, as in a process that has not seen the key yet."""
    credentials._known.clear()
    yield credentials._known.clear
    credentials._known.clear()


def make(*scopes, **more):
    return operations.create_api_key(unique("key"), grants(*scopes), **more)


def authenticate(header):
    return BearerAuthentication().authenticate(RequestFactory().get("/", headers={"authorization": header}))[0]


def test_it_stores_the_digest_of_a_key_and_nothing_that_could_be_used():
    key, token = make("read:events")
    assert token.startswith(f"tpk_{key.prefix}")
    assert len(token) > 50
    stored = ApiKey.objects.values().get(pk=key.pk)
    assert bytes(stored["digest"]) == hashlib.sha256(token.encode()).digest()
    assert token not in repr(stored)


def test_it_knows_whom_a_key_stands_for():
    key, token = make("read:events orders.*", "write:queues")
    principal = authenticate(f"Bearer {token}")
    assert (principal.kind, principal.id, principal.name) == ("api-key", key.uid, key.name)
    assert principal.grants == (Grant("read:events", ("orders.*",)), Grant("write:queues"))
    assert authenticate(f"bearer   {token}") == principal


def test_it_costs_no_query_on_a_warm_path(django_assert_num_queries):
    _, token = make("read:events")
    credentials.principal_of(token)
    with django_assert_num_queries(0):
        assert credentials.principal_of(token) is not None


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic dTpw", "Token {}", "{}", "Bearer {}x", "Bearer {} {}", "Bearer {},", "Bearer abc\xb8",
     "Bearer \x00", "Bearer tpk_", "Bearer tpg_abc", "Bearer " + "a" * 5000, "Bearer tpk_é", "Bearer {}, Bearer {}"],
)  # fmt: skip
def test_it_refuses_what_is_no_valid_token(header):
    _, token = make("read:events")
    with pytest.raises(Unauthenticated):
        authenticate(header.replace("{}", token))


def test_it_refuses_a_key_whose_secret_differs_in_one_character():
    _, token = make("read:events")
    other = "A" if token[-1] != "A" else "B"
    assert credentials.principal_of(token[:-1] + other) is None


def test_it_refuses_a_revoked_key_in_this_process_at_once(django_capture_on_commit_callbacks):
    key, token = make("read:events")
    assert credentials.principal_of(token)
    with django_capture_on_commit_callbacks(execute=True):
        operations.revoke_api_key(key)
    assert credentials.principal_of(token) is None


def test_another_process_refuses_a_revoked_key_within_five_seconds(monkeypatch):
    key, token = make("read:events")
    now = 1000.0
    monkeypatch.setattr(credentials.time, "monotonic", lambda: now)
    assert credentials.principal_of(token)
    ApiKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now())
    now = 1003.9
    assert credentials.principal_of(token), "still cached"
    now = 1005.0
    assert credentials.principal_of(token) is None


def test_a_key_ends_at_its_time_also_when_it_was_cached_just_before(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(credentials.time, "monotonic", lambda: now)
    monkeypatch.setattr(credentials, "CACHE_SECONDS", 3600.0)
    key, token = make("read:events", expires_at=timezone.now() + timedelta(seconds=600))
    assert credentials.principal_of(token)
    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    now = 1600.1
    assert credentials.principal_of(token) is None


def test_it_notes_the_last_use_at_most_once_a_minute(other_process):
    key, token = make("read:events")
    credentials.principal_of(token)
    key.refresh_from_db()
    first = key.last_used_at
    assert first is not None
    other_process()
    credentials.principal_of(token)
    key.refresh_from_db()
    assert key.last_used_at == first
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=first - timedelta(minutes=2))
    other_process()
    credentials.principal_of(token)
    key.refresh_from_db()
    assert key.last_used_at >= first


def test_a_rotated_key_has_a_new_secret_and_the_old_one_ends(django_capture_on_commit_callbacks):
    key, old = make("read:events")
    assert credentials.principal_of(old)
    with django_capture_on_commit_callbacks(execute=True):
        new = operations.rotate_api_key(key)
    assert credentials.principal_of(old) is None
    assert credentials.principal_of(new).id == key.uid


def test_a_revoked_key_cannot_be_rotated():
    key, _ = make("read:events")
    operations.revoke_api_key(key)
    with pytest.raises(Conflict):
        operations.rotate_api_key(key)


def test_a_name_is_free_again_once_its_key_is_revoked():
    key, _ = operations.create_api_key("deploy", grants())
    with pytest.raises(NameTaken):
        operations.create_api_key("deploy", grants())
    operations.revoke_api_key(key)
    operations.create_api_key("deploy", grants())


@pytest.mark.parametrize(
    "granted", [[], [Grant("read:everything")], [Grant("read:events", ("a b",))], [Grant("read:events", ("a/b/c",))]]
)
def test_it_refuses_scopes_and_patterns_that_mean_nothing(granted):
    with pytest.raises(InvalidField):
        operations.create_api_key(unique("key"), granted)
    assert not ApiKey.objects.exists()


def test_each_change_leaves_a_trail_without_the_secret():
    key, token = make("read:events")
    new = operations.rotate_api_key(key)
    operations.revoke_api_key(key, reason="left the team")
    operations.revoke_api_key(key)
    rows = Audit.objects.filter(object_id=str(key.uid)).order_by("id").values()
    assert sorted(row["verb"] for row in rows) == ["create", "revoke", "rotate"]
    assert token not in repr(rows) and new not in repr(rows)
