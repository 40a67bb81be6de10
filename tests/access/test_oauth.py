import base64
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.utils import timezone
from oauth2_provider.models import AccessToken

from apps.access import credentials, operations
from apps.access.models import Audit, OAuthClient
from tests.factories import Api, grants, unique

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"
NO_FORMS = ["grant_type=client_credentials&grant_type=client_credentials", "grant_type=%ff", "grant_type=%", "a=1;b=2", "[]"]
NO_BASIC = ["Basic", "Basic !!!", "Basic /zr/", "Bearer x", "Basic \xff", "Basic YTpi\xe9", "\xff"]
OTHERS = ["authorize", "introspect", "revoke_token", "applications/", "token/", "userinfo"]
FOREIGN = ["write:events", "read:events write:events", "read:everything", "READ:events", "read:events:x"]
ENDINGS = [
    operations.disable_oauth_client,
    operations.delete_oauth_client,
    lambda client: AccessToken.objects.all().delete(),
]


def basic(text):
    return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


class Client:
    def __init__(self, *scopes):
        self.row, self.secret = operations.create_oauth_client(unique("client"), grants(*scopes))
        self.id = self.row.application.client_id

    def ask(self, body="", content_type=FORM, path="/oauth/token", **fields):
        fields = {"grant_type": "client_credentials", "client_id": self.id, "client_secret": self.secret, **fields}
        raw = body or urlencode({name: value for name, value in fields.items() if value is not None})
        return Api().generic("POST", path, raw, content_type)

    def token(self, scope):
        return self.ask(scope=scope).json()["access_token"]


@pytest.fixture
def client(db):
    return Client("read:events orders.*", "manage:events")


def test_a_client_gets_a_token_for_what_it_asks_of_its_scopes(client):
    answer = client.ask(scope="read:events")
    assert answer.status_code == 200
    token = answer.json()
    assert (token["token_type"], token["expires_in"], token["scope"]) == ("Bearer", 3600, "read:events")
    assert "refresh_token" not in token
    assert answer["Cache-Control"] == "no-store"
    principal = credentials.principal_of(token["access_token"])
    assert (principal.kind, principal.id) == ("oauth-client", client.row.uid)
    assert principal.has("read:events") and not principal.has("manage:events")
    assert principal.allows("read:events", "orders.v1") and not principal.allows("read:events", "billing")


def test_a_client_may_authenticate_by_basic(client):
    header = basic(f"{client.id}:{client.secret}")
    assert Api().generic("POST", "/oauth/token", "grant_type=client_credentials", FORM, headers=header).status_code == 200


def test_a_token_works_where_a_key_does_and_ends_when_it_expires(client):
    api = Api(client.token("manage:events"))
    assert api.get("/v1/audit").status_code == 200
    AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
    credentials._known.clear()
    assert api.get("/v1/audit").status_code == 401


def test_asking_for_no_scope_grants_none(client):
    answer = client.ask()
    assert answer.json()["scope"] == ""
    assert credentials.principal_of(answer.json()["access_token"]).grants == ()
    assert Api(answer.json()["access_token"]).get("/v1/audit").status_code == 403


@pytest.mark.parametrize("scope", FOREIGN)
def test_a_foreign_scope_is_an_error(client, scope):
    answer = client.ask(scope=scope)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_scope")
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"client_id": "unknown"}, 401, "invalid_client"),
        ({"client_id": None, "client_secret": None}, 401, "invalid_client"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"grant_type": "authorization_code", "code": "x"}, 400, "unsupported_grant_type"),
        ({"grant_type": "refresh_token", "refresh_token": "x"}, 400, "unsupported_grant_type"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "x"}, 400, "unsupported_grant_type"),
        ({"grant_type": None}, 400, "invalid_request"),
        ({"client_id": "\x00"}, 400, "invalid_request"),
        ({"scope": "\x00"}, 400, "invalid_request"),
        ({"client_secret": "\x00"}, 400, "invalid_request"),
        ({"client_id": "é" * 100}, 401, "invalid_client"),
        ({"client_id": "a" * 5000}, 401, "invalid_client"),
    ],
)
def test_errors_are_those_of_rfc_6749(client, fields, status, error):
    answer = client.ask(**fields)
    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert answer["Content-Type"] == "application/json"
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize("body", NO_FORMS)
def test_a_form_that_is_none_is_an_invalid_request(client, body):
    answer = client.ask(body=body)
    assert answer.status_code in (400, 401)
    assert answer.json()["error"] in ("invalid_request", "unsupported_grant_type")


def test_json_is_no_form(client):
    answer = client.ask(body="{}", content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_credentials_in_the_url_are_not_looked_at(client):
    query = urlencode({"client_id": client.id, "client_secret": client.secret, "grant_type": "client_credentials"})
    answer = client.ask(client_id=None, client_secret=None, path=f"/oauth/token?{query}")
    assert answer.status_code in (400, 401)
    assert not AccessToken.objects.exists()
    token = client.token("manage:events")
    assert Api().get(f"/v1/audit?access_token={token}").status_code == 401


@pytest.mark.parametrize("header", NO_BASIC)
def test_a_basic_header_that_is_none_is_an_invalid_client(db, header):
    headers = {"Authorization": header}
    answer = Api().generic("POST", "/oauth/token", "grant_type=client_credentials", FORM, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert answer["WWW-Authenticate"].startswith("Basic ")


def test_a_wrong_secret_is_answered_with_the_scheme_to_use_instead(client):
    answer = client.ask(client_secret="wrong", scope="read:events")
    assert (answer.status_code, answer.json()) == (401, {"error": "invalid_client"})
    assert answer["WWW-Authenticate"].startswith("Basic ")


def test_a_basic_header_with_a_nul_is_an_error_of_the_client(db):
    answer = Api().generic("POST", "/oauth/token", "grant_type=client_credentials", FORM, headers=basic("a\x00:b"))
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_neither_token_nor_secret_is_stored(client):
    token = client.token("read:events")
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(t)::text FROM oauth2_provider_accesstoken t")
        rows = str(cursor.fetchall())
        cursor.execute("SELECT row_to_json(t)::text FROM oauth2_provider_application t")
        rows += str(cursor.fetchall())
    assert token not in rows and client.secret not in rows


@pytest.mark.parametrize("end", ENDINGS)
def test_ending_a_client_or_its_token_ends_the_access(client, end, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(credentials.time, "monotonic", lambda: now)
    token = client.token("manage:events")
    assert credentials.principal_of(token)
    end(OAuthClient.objects.get())
    now = 1005.0
    assert credentials.principal_of(token) is None


def test_a_rotated_secret_gets_tokens_and_the_old_one_none(client):
    old, client.secret = client.secret, operations.rotate_oauth_secret(client.row)
    assert credentials.principal_of(client.token("manage:events"))
    refused = client.ask(client_secret=old)
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    assert AccessToken.objects.count() == 1


@pytest.mark.parametrize("keep", [False, True])
def test_rotation_ends_the_tokens_of_this_client_unless_they_are_kept(client, keep, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(credentials.time, "monotonic", lambda: now)
    other = Client("manage:events")
    tokens = [client.token("manage:events"), other.token("manage:events")]
    assert all(map(credentials.principal_of, tokens))
    operations.rotate_oauth_secret(client.row, keep_tokens=keep)
    now = 1005.0
    assert [credentials.principal_of(token) is not None for token in tokens] == [keep, True]


def test_a_disabled_client_stays_so_when_its_secret_is_rotated(client):
    operations.disable_oauth_client(client.row)
    client.secret = operations.rotate_oauth_secret(client.row)
    assert client.ask(scope="manage:events").status_code == 400
    operations.enable_oauth_client(client.row)
    assert client.ask(scope="manage:events").status_code == 200


def test_a_rotation_is_on_the_trail_without_the_secret(client):
    secret = operations.rotate_oauth_secret(client.row, keep_tokens=True)
    (row,) = Audit.objects.filter(verb="rotate")
    assert (row.object_kind, row.object_name, row.after) == ("oauth-client", client.row.name, {"tokensKept": True})
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(row_to_json(t)::text, ' ') FROM access_audit t")
        stored = cursor.fetchone()[0]
        cursor.execute("SELECT string_agg(row_to_json(t)::text, ' ') FROM oauth2_provider_application t")
        stored += cursor.fetchone()[0]
    assert secret not in stored


def test_a_disabled_client_gets_no_scope_and_an_enabled_one_does_again(client):
    operations.disable_oauth_client(client.row)
    assert client.ask(scope="manage:events").status_code == 400
    assert credentials.principal_of(client.ask().json()["access_token"]) is None
    operations.enable_oauth_client(client.row)
    assert client.ask(scope="manage:events").status_code == 200


def test_narrowing_a_client_narrows_the_tokens_it_has(client):
    token = client.token("read:events manage:events")
    OAuthClient.objects.update(grants=[{"scope": "read:events", "patterns": ["x"]}])
    principal = credentials.principal_of(token)
    assert principal.allows("read:events", "x") and not principal.has("manage:events")


@pytest.mark.parametrize("path", OTHERS)
def test_there_is_no_other_oauth_endpoint(client, path):
    assert Api().post(f"/oauth/{path}").status_code == 404


def test_a_parameter_without_a_value_is_one_that_was_left_out():
    client = Client("read:events")
    answer = client.ask(scope="")
    assert (answer.status_code, answer.json()["scope"]) == (200, client.ask(scope=None).json()["scope"])
    assert client.ask(scope="read:events", audience="").json()["scope"] == "read:events"
    assert client.ask(grant_type="").json() == client.ask(grant_type=None).json()
