"""WEBHOOK destinations against a real HTTP server that answers well, badly, slowly and not at all."""

import asyncio
import json
import shutil
import subprocess
import threading
import time
from ipaddress import ip_network

import pytest
from django.db import connections
from standardwebhooks import Webhook

from apps.access.models import Audit
from apps.destinations.forward import settle
from apps.destinations.forward.loop import Forwarder
from apps.destinations.models import WebhookSecret
from apps.destinations.webhooks import verdict
from tests.destinations.endpoint import Endpoint
from tests.destinations.world import DESTINATIONS, cause, lag, make, publish, sql
from tests.factories import Api, api_key, unique
from tests.patience import PATIENCE, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def loopback(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]


@pytest.fixture(autouse=True)
def nothing_comes_again_by_itself(monkeypatch):
    """What failed waits for the test to say that its time has come, however long that takes."""
    monkeypatch.setattr(verdict, "FIRST_SECONDS", 1_000.0)
    monkeypatch.setattr(settle, "FIRST_PROBE_SECONDS", 1_000.0)


@pytest.fixture
def api(transactional_db):
    return Api(api_key())


@pytest.fixture
def endpoint():
    with Endpoint() as server:
        yield server


@pytest.fixture
def forwarder(transactional_db):
    """A forwarder in a thread of this process, with an event loop of its own."""
    started, made = threading.Event(), []

    async def run():
        made.extend([Forwarder(2), asyncio.get_running_loop()])
        started.set()
        await made[0].run()

    thread = threading.Thread(target=lambda: (asyncio.run(run()), connections.close_all()))
    thread.start()
    started.wait(PATIENCE)
    yield made[0]
    made[1].call_soon_threadsafe(made[0].stop)
    thread.join(PATIENCE)
    assert not thread.is_alive()


def hook(api, url, *, destination=(), **webhook):
    return make(api, type="WEBHOOK", webhook={"url": url, "timeoutSeconds": 30, **webhook}, **dict(destination))


def attempts(api, thing):
    return api.get(f"{DESTINATIONS}/{thing['name']}/attempts").json()["items"]


def settled(api, thing):
    return lag(api, thing["name"])["lagEvents"] == 0


def verified(request, secret):
    return Webhook(secret).verify(request.body, request.headers)


# What is sent


def test_each_event_is_posted_signed_under_its_identity(api, endpoint, forwarder):
    thing = hook(api, endpoint.url("204"))
    publish(api, thing["topic"], 3)
    until(lambda: settled(api, thing))
    topic = api.get(f"/v1/topics/{thing['topic']}").json()["id"]
    assert [verified(request, thing["webhook"]["secret"])["data"] for request in endpoint.requests] == [0, 1, 2]
    first = endpoint.requests[0]
    assert first.headers["webhook-id"] == f"{topic}/000.00000000000000000000"
    assert first.headers["content-type"] == "application/cloudevents+json"
    assert json.loads(first.body)["sequence"] == "000.00000000000000000000"
    assert [(row["status"], row["delivered"], row["kind"]) for row in attempts(api, thing)] == [(204, True, "delivery")] * 3


def test_a_batch_is_one_request(api, endpoint, forwarder):

    thing = hook(api, endpoint.url("200"), batch=True)
    api.post(f"{DESTINATIONS}/{thing['name']}/pause")
    publish(api, thing["topic"], 5)
    api.post(f"{DESTINATIONS}/{thing['name']}/resume")
    until(lambda: settled(api, thing))
    [request] = endpoint.requests
    assert [event["data"] for event in verified(request, thing["webhook"]["secret"])] == [0, 1, 2, 3, 4]
    assert request.headers["content-type"] == "application/cloudevents-batch+json"
    assert request.headers["webhook-id"].endswith("/000.00000000000000000000:5")
    assert attempts(api, thing)[0]["events"] == 5 and attempts(api, thing)[0]["answer"] == "said"


JAVASCRIPT_VERIFIER = """
    const { Webhook } = require("standardwebhooks");
    const [secret, body, headers] = JSON.parse(require("fs").readFileSync(0, "utf8"));
    const event = new Webhook(secret).verify(body, headers);
    let refused = false;
    try { new Webhook(secret).verify(body + " ", headers); } catch { refused = true; }
    process.exit(event.specversion === "1.0" && refused ? 0 : 1);
"""


def test_the_javascript_verifier_of_the_standard_accepts_it_too(api, endpoint, forwarder, tmp_path):
    node, npm = shutil.which("node"), shutil.which("npm")
    package = ["install", "--no-audit", "--no-fund", "--silent", "standardwebhooks@1"]
    if not node or not npm or subprocess.run([npm, *package], cwd=tmp_path, capture_output=True).returncode:
        pytest.skip("Node, or standardwebhooks from npm, cannot be had here.")
    thing = hook(api, endpoint.url("204"))
    publish(api, thing["topic"], 1)
    until(lambda: endpoint.requests)
    [request] = endpoint.requests
    headers = {name: request.headers[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
    told = json.dumps([thing["webhook"]["secret"], request.body.decode(), headers])
    verdict = subprocess.run([node, "-e", JAVASCRIPT_VERIFIER], input=told, text=True, cwd=tmp_path)
    assert verdict.returncode == 0


def test_after_a_rotation_both_secrets_verify_for_a_day(api, endpoint, forwarder):
    thing = hook(api, endpoint.url("204"))
    rotated = api.post(f"{DESTINATIONS}/{thing['name']}/rotate-secret", {"reason": "leaked"}).json()["webhook"]["secret"]
    publish(api, thing["topic"], 1)
    until(lambda: endpoint.requests)
    for secret in (thing["webhook"]["secret"], rotated):
        verified(endpoint.requests[0], secret)
    WebhookSecret.objects.filter(expires_at__isnull=False).update(expires_at="2020-01-01T00:00:00Z")
    publish(api, thing["topic"], 1, first=1)
    until(lambda: len(endpoint.requests) == 2)
    assert len(endpoint.requests[1].headers["webhook-signature"].split()) == 1
    verified(endpoint.requests[1], rotated)


# What comes back


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("301", "answered 301: redirects are not followed"),
        ("400", "answered 400"),
        ("500", "answered 500"),
        ("nothing", "no answer within 1 s"),
        ("trickle", "no answer within 1 s"),
        ("reset", "Read"),
    ],
)
def test_what_is_not_a_success_is_tried_again_later_with_the_same_identity(api, endpoint, forwarder, behaviour, said):
    impatient = {"timeoutSeconds": 1} if behaviour in ("nothing", "trickle") else {}
    thing = hook(api, endpoint.url(behaviour), **impatient)
    publish(api, thing["topic"], 1)
    until(lambda: attempts(api, thing))
    [lease] = until(lambda: waiting(thing))
    assert said in lease[0]
    assert 400 < lease[1] <= 1_000
    endpoint.answers[behaviour] = "200"
    sql("UPDATE lease SET visible_at = statement_timestamp()")
    api.post(f"{DESTINATIONS}/{thing['name']}/resume")
    until(lambda: settled(api, thing))
    assert len({request.headers["webhook-id"] for request in endpoint.requests}) == 1
    assert [row["attempt"] for row in attempts(api, thing)] == [2, 1]
    assert not any(request.path == "/200" for request in endpoint.requests)


def waiting(thing):
    return sql(
        "SELECT coalesce(error, ''), extract(epoch FROM visible_at - statement_timestamp())::float8 FROM lease"
        " JOIN destination USING (topic_id, consumer_id) WHERE name = %s AND state = 'waiting'",
        thing["name"],
    )


def test_an_answer_without_end_is_cut_off_and_counts_by_its_status(api, endpoint, forwarder):
    thing = hook(api, endpoint.url("endless"))
    publish(api, thing["topic"], 1)
    until(lambda: settled(api, thing))
    assert [(row["status"], len(row["answer"])) for row in attempts(api, thing)] == [(200, 500)]


def test_gone_disables_it_and_resume_enables_it(api, endpoint, forwarder):
    thing = hook(api, endpoint.url("410"))
    publish(api, thing["topic"], 1)
    until(lambda: cause(api, thing["name"]) == "disabled")
    assert "410" in lag(api, thing["name"])["cause"]["text"]
    assert Audit.objects.get(verb="disable").object_name == thing["name"]
    until(lambda: waiting(thing))  # it is disabled first and put back then
    endpoint.answers["410"] = "200"
    sql("UPDATE lease SET visible_at = statement_timestamp()")
    api.post(f"{DESTINATIONS}/{thing['name']}/resume")
    until(lambda: settled(api, thing))


@pytest.mark.parametrize("status", ["429", "503"])
def test_retry_after_is_heeded_for_all_that_goes_there(api, endpoint, forwarder, status):
    thing = hook(api, endpoint.url(f"{status}-7200"))
    publish(api, thing["topic"], 1)
    [lease] = until(lambda: waiting(thing))
    assert 7_000 < lease[1] <= 7_200
    publish(api, thing["topic"], 1, first=1)
    time.sleep(0.3)
    assert len(endpoint.requests) == 1


def test_none_of_these_stalls_another_destination(api, endpoint, forwarder):
    behaviours = ("nothing", "trickle", "endless", "reset", "500", "429-60")
    bad = [hook(api, endpoint.url(behaviour), timeoutSeconds=60) for behaviour in behaviours]
    for thing in bad:
        publish(api, thing["topic"], 5)
    until(lambda: len({request.path for request in endpoint.requests}) == len(bad))
    good = hook(api, endpoint.url("200"))
    publish(api, good["topic"], 5)
    until(lambda: len(endpoint.at("200")) == 5)
    assert attempts(api, bad[0]) == attempts(api, bad[1]) == []  # they are still kept waiting
    endpoint.let_go()


def test_after_failures_in_a_row_the_breaker_opens_and_a_probe_closes_it(api, endpoint, forwarder):
    thing = hook(api, endpoint.url("500"), concurrency=1)
    publish(api, thing["topic"], 12)
    until(lambda: cause(api, thing["name"]) == "breaker_open")
    assert "failures in a row, the last: answered 500" in lag(api, thing["name"])["cause"]["text"]
    sent = len(endpoint.requests)
    time.sleep(0.5)
    assert len(endpoint.requests) == sent
    until(lambda: not sql("SELECT FROM lease WHERE state = 'leased'"))
    endpoint.answers["500"] = "200"
    sql("UPDATE push_state SET next_attempt_at = statement_timestamp()")
    sql("UPDATE lease SET visible_at = statement_timestamp()")
    until(lambda: settled(api, thing))
    assert cause(api, thing["name"]) == "caught_up"


def test_five_days_without_a_delivery_disable_it_with_the_reason(api, endpoint, forwarder):
    thing = hook(api, endpoint.url("500"))
    publish(api, thing["topic"], 1)
    until(lambda: waiting(thing))
    sql("UPDATE push_state SET failing_since = failing_since - interval '5 days 1 minute'")
    sql("UPDATE lease SET visible_at = statement_timestamp()")
    publish(api, thing["topic"], 1, first=1)
    until(lambda: cause(api, thing["name"]) == "disabled")
    assert "five days" in lag(api, thing["name"])["cause"]["text"]


def test_after_max_deliveries_it_is_a_dead_letter_and_a_redrive_sends_it_again(api, endpoint, forwarder):
    thing = hook(api, endpoint.url("400"), destination={"maxDeliveries": 1})
    publish(api, thing["topic"], 1)
    dead = f"{DESTINATIONS}/{thing['name']}/dead-letters"
    [letter] = until(lambda: api.get(dead).json()["items"])
    assert letter["error"] == "answered 400" and settled(api, thing)
    endpoint.answers["400"] = "200"
    api.post(f"{dead}/{letter['id']}/redrive")
    until(lambda: len(endpoint.requests) == 2)
    assert endpoint.requests[0].headers["webhook-id"] == endpoint.requests[1].headers["webhook-id"]


def test_in_order_a_failing_event_holds_those_behind_it(api, endpoint, forwarder):
    thing = hook(api, endpoint.url("500"), destination={"ordering": "partition"})
    publish(api, thing["topic"], 3)
    until(lambda: waiting(thing))
    time.sleep(0.3)
    assert [json.loads(request.body)["data"] for request in endpoint.requests] == [0]
    endpoint.answers["500"] = "200"
    sql("UPDATE lease SET visible_at = statement_timestamp()")
    api.post(f"{DESTINATIONS}/{thing['name']}/resume")
    until(lambda: settled(api, thing))
    assert [json.loads(request.body)["data"] for request in endpoint.requests] == [0, 0, 1, 2]


def test_a_rate_is_kept(api, endpoint, forwarder):
    thing = hook(api, endpoint.url("204"), rate=10)
    began = time.monotonic()
    publish(api, thing["topic"], 6)
    until(lambda: len(endpoint.requests) == 6)
    assert time.monotonic() - began >= 0.5


# By hand


def test_a_test_event_is_sent_at_once_and_recorded(api, endpoint):
    thing = hook(api, endpoint.url("200"))
    sent = api.post(f"{DESTINATIONS}/{thing['name']}/test").json()
    assert (sent["delivered"], sent["status"], sent["answer"]) == (True, 200, "said")
    assert verified(endpoint.requests[0], thing["webhook"]["secret"])["type"] == "towpath.test"
    assert [row["kind"] for row in attempts(api, thing)] == ["test"]


def test_an_event_is_sent_again_with_its_own_identity_and_moves_nothing(api, endpoint):
    thing = hook(api, endpoint.url("200"))
    publish(api, thing["topic"], 2)
    path = f"{DESTINATIONS}/{thing['name']}/resend"
    sent = api.post(path, {"sequence": "000.00000000000000000001"}).json()
    assert sent["webhookId"].endswith("/000.00000000000000000001") and sent["delivered"]
    assert json.loads(endpoint.requests[0].body)["data"] == 1
    assert lag(api, thing["name"])["lagEvents"] == 2
    assert api.post(path, {"sequence": "000.00000000000000000009"}).status_code == 404


def test_attempts_come_in_pages_the_newest_first(api, endpoint):
    thing = hook(api, endpoint.url("204"))
    for _ in range(3):
        api.post(f"{DESTINATIONS}/{thing['name']}/test")
    page = api.get(f"{DESTINATIONS}/{thing['name']}/attempts?limit=2").json()
    rest = api.get(f"{DESTINATIONS}/{thing['name']}/attempts?limit=2&cursor={page['nextCursor']}").json()
    times = [row["at"] for row in page["items"] + rest["items"]]
    assert len(times) == 3 and times == sorted(times, reverse=True)


@pytest.mark.parametrize("action", ["rotate-secret", "test", "resend"])
def test_other_types_have_none_of_this(api, action):
    thing = make(api)
    body = {"sequence": "000.00000000000000000001"} if action == "resend" else None
    refused = api.post(f"{DESTINATIONS}/{thing['name']}/{action}", body)
    assert refused.json()["error"]["code"] == "NOT_A_WEBHOOK"
    assert api.get(f"{DESTINATIONS}/{thing['name']}/attempts").json()["error"]["code"] == "NOT_A_WEBHOOK"


# Secrets


def test_a_secret_is_shown_when_it_is_made_and_never_again(api, endpoint):
    thing = hook(api, endpoint.url("204"))
    secret = thing["webhook"]["secret"]
    assert secret.startswith("whsec_")
    for path in (f"{DESTINATIONS}/{thing['name']}", DESTINATIONS, "/v1/audit"):
        assert secret not in api.get(path).content.decode()


def test_the_callers_own_secret_is_never_shown(api, endpoint):
    own = "whsec_" + "A" * 32
    thing = hook(api, endpoint.url("204"), secret=own)
    rotated = api.post(f"{DESTINATIONS}/{thing['name']}/rotate-secret", {"secret": own})
    assert rotated.status_code == 200 and "secret" not in thing["webhook"] | rotated.json()["webhook"]


@pytest.mark.parametrize(
    ("webhook", "field"),
    [
        ({"url": "ftp://example.org/"}, "webhook.url"),
        ({"url": "https://user:pass@example.org/"}, "webhook.url"),
        ({"url": "https://example.org/#x"}, "webhook.url"),
        ({"url": "https:///x"}, "webhook.url"),
        ({"url": "http://10.0.0.1/"}, "webhook.url"),
        ({"url": "http://[::ffff:169.254.169.254]/"}, "webhook.url"),
        ({"url": "http://[::1"}, "webhook.url"),
        ({"url": "http://example.org:99999/"}, "webhook.url"),
        ({"url": "http://exa mple.org/"}, "webhook.url"),
        ({"url": "x" * 3000}, "webhook.url"),
        ({"url": "https://example.org/", "secret": "short"}, "webhook.secret"),
        ({"url": "https://example.org/", "secret": "whsec_AAAA"}, "webhook.secret"),
        ({"url": "https://example.org/", "timeoutSeconds": 61}, "webhook.timeoutSeconds"),
        ({"url": "https://example.org/", "concurrency": 0}, "webhook.concurrency"),
        ({"url": "https://example.org/", "rate": 0}, "webhook.rate"),
        ({}, "webhook.url"),
    ],
)
def test_what_cannot_be_an_endpoint_is_refused(api, webhook, field):
    refused = api.post(DESTINATIONS, {"name": unique("n"), "type": "WEBHOOK", "topic": "t", "webhook": webhook})
    assert refused.status_code == 400, refused.content
    assert refused.json()["error"]["details"]["field"] == field


def test_an_address_that_is_not_allowed_is_never_connected_to_whatever_the_name(api, endpoint, settings):
    thing = hook(api, f"http://localhost:{endpoint.port}/200")
    settings.WEBHOOK_ALLOWED_NETWORKS = []
    sent = api.post(f"{DESTINATIONS}/{thing['name']}/test").json()
    assert not sent["delivered"] and "no address that may be reached" in sent["error"]
    assert endpoint.requests == []
