import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.access import credentials
from apps.access.models import ApiKey, OAuthClient
from apps.access.scopes import Grant

pytestmark = pytest.mark.django_db


def run(command, *arguments):
    out = StringIO()
    call_command(command, *arguments, stdout=out)
    return out.getvalue()


def test_it_prints_the_key_alone():
    printed = run("create_api_key", "deploy", "--scope", "read:events")
    assert printed.endswith("\n") and printed.count("\n") == 1
    assert credentials.principal_of(printed.strip()).grants == (Grant("read:events"),)


def test_a_resource_narrows_the_scope_before_it():
    arguments = ["--scope", "write:queues", "--scope", "read:events", "--resource", "orders.*", "--resource", "billing/g*"]
    run("create_api_key", "deploy", *arguments, "--scope", "manage:channels", "--resource", "job:*")
    assert ApiKey.objects.get().grants == [
        {"scope": "write:queues", "patterns": []},
        {"scope": "read:events", "patterns": ["orders.*", "billing/g*"]},
        {"scope": "manage:channels", "patterns": ["job:*"]},
    ]


@pytest.mark.parametrize("command", ["create_api_key", "create_oauth_client"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["deploy", "--scope", "read:everything"], "read:everything"),
        (["deploy", "--scope", "read:events", "--resource", "a b"], "a b"),
        (["deploy", "--scope", "read:events", "--resource", ""], "pattern"),
        (["deploy", "--resource", "orders", "--scope", "read:events"], "before it"),
        (["deploy"], "--scope"),
        (["a/b", "--scope", "read:events"], "characters"),
        (["", "--scope", "read:events"], "characters"),
    ],
)
def test_a_mistake_is_said_and_nothing_is_made(command, arguments, said):
    with pytest.raises(CommandError, match=said):
        run(command, *arguments)
    assert not ApiKey.objects.exists() and not OAuthClient.objects.exists()


@pytest.mark.parametrize("command", ["create_api_key", "create_oauth_client"])
def test_a_name_in_use_is_said(command):
    run(command, "deploy", "--scope", "read:events")
    with pytest.raises(CommandError, match="deploy"):
        run(command, "deploy", "--scope", "read:events")


def test_a_key_can_be_made_to_expire():
    token = run("create_api_key", "old", "--scope", "read:events", "--expires", "2020-01-01T00:00:00Z").strip()
    assert credentials.principal_of(token) is None
    with pytest.raises(CommandError, match="RFC 3339"):
        run("create_api_key", "other", "--scope", "read:events", "--expires", "tomorrow")


def test_an_oauth_client_is_printed_as_json_and_its_secret_is_not_stored():
    printed = json.loads(run("create_oauth_client", "deploy", "--scope", "read:events", "--resource", "orders"))
    assert printed.keys() == {"client_id", "client_secret"}
    client = OAuthClient.objects.get()
    assert client.application.client_id == printed["client_id"]
    assert client.application.client_secret != printed["client_secret"]
    assert client.grants == [{"scope": "read:events", "patterns": ["orders"]}]
