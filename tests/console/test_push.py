"""What pushes, in the admin: targets, breaker, attempts, sending by hand, dead letters and parking."""

import re
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.utils import timezone

from apps.access.models import Audit
from apps.cursors.models import Consumer
from apps.destinations.models import Destination, PushState, WebhookSecret
from apps.leases.models import DeadLetter
from tests.console import world
from tests.destinations.endpoint import Endpoint
from tests.factories import Api, api_key

pytestmark = pytest.mark.django_db
LIST = "/admin/destinations/destination/"
MARKUP = "<script>alert(1)</script>"
SURE = {"reason": "because", "confirmed": "1"}


def url(row, verb="change"):
    return f"{LIST}{row.pk}/{verb}/"


@pytest.fixture
def endpoint(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    with Endpoint() as server:
        yield server


@pytest.fixture
def hook(db, endpoint):
    target = {"url": endpoint.url("200"), "timeoutSeconds": 30}
    body = {"name": "hook", "type": "WEBHOOK", "topic": "orders", "webhook": target, "startAt": "oldest"}
    assert Api(api_key()).post("/v1/event-destinations", body).status_code == 201
    return Destination.objects.get(name="hook")


@pytest.fixture
def reader(db):
    topic = world.topic(name="letters")
    world.events(topic, 5)
    return world.destination(topic, "reader")


def test_the_settings_of_a_webhook_are_said_in_words(login, hook):
    viewer = login("Viewer")
    said = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", viewer.get(url(hook)).content.decode())
    for fact in (
        ("a request carries", "one event"),
        ("time limit", "30 s"),
        ("at once", "4 requests"),
        ("rate", "no limit"),
    ):
        assert fact in said
    hook.settings["webhook"] |= {"batch": True, "rate": 1, "concurrency": 1}
    hook.save(update_fields=["settings"])
    said = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", viewer.get(url(hook)).content.decode())
    for fact in (("a request carries", "up to 100 events"), ("at once", "1 request"), ("rate", "1 request a second")):
        assert fact in said


def test_a_webhook_shows_its_target_its_breaker_and_never_its_secret(login, hook):
    PushState.objects.create(
        destination=hook, failures=7, held_code="breaker_open", held_since="2026-01-01T00:00:00Z",
        failing_since="2026-01-01T00:00:00Z", last_error=f"answered 500 {MARKUP}",
    )  # fmt: skip
    html = login("Viewer").get(url(hook)).content.decode()
    assert hook.settings["webhook"]["url"] in html and "open since" in html and "answered 500" in html
    assert MARKUP not in html and WebhookSecret.objects.get().secret not in html


@pytest.mark.parametrize(
    ("ahead", "said"), [(None, "now"), (-332 * 86_400, "now"), (7_300, r"<time [^>]*>in 2 h( 1 min)?</time>")]
)
def test_the_next_attempt_is_in_the_future_or_now(login, hook, ahead, said):
    at = None if ahead is None else timezone.now() + timedelta(seconds=ahead)
    PushState.objects.create(destination=hook, failures=7, next_attempt_at=at)
    html = login("Viewer").get(url(hook)).content.decode()
    assert re.search(rf"<dt>Next attempt not before</dt><dd>{said}</dd>", html)


def test_a_test_event_is_sent_from_the_page_and_stands_in_its_attempts(login, hook, endpoint):
    client = login("Admin")
    assert "towpath.test" in client.get(url(hook, "test")).content.decode()
    assert endpoint.requests == []
    answer = client.post(url(hook, "test"), SURE, follow=True).content.decode()
    assert "Answered 200" in answer and "test_" in answer
    assert len(endpoint.requests) == 1


def test_an_event_is_sent_again_from_the_page(login, hook, endpoint):
    world.events(hook.topic, 3)
    client, chosen = login("Admin"), {"sequence": "000.00000000000000000002", "confirmed": "1"}
    assert "Answered 200" in client.post(url(hook, "resend"), chosen, follow=True).content.decode()
    assert endpoint.requests[0].headers["webhook-id"].endswith("/000.00000000000000000002")
    wrong = client.post(url(hook, "resend"), {"sequence": "17", "confirmed": "1"})
    assert "Must be a sequence" in wrong.content.decode()


@pytest.mark.parametrize("verb", ["test", "resend"])
def test_viewers_send_nothing_and_other_types_have_no_such_page(login, hook, reader, endpoint, verb):
    assert login("Viewer").post(url(hook, verb), SURE).status_code == 403
    assert login("Admin").get(url(reader, verb)).status_code == 404
    assert endpoint.requests == []


def test_dead_letters_are_listed_redriven_and_discarded(login, reader):
    one, other = (world.dead_letter(reader, offset, f"boom {MARKUP}") for offset in (0, 1))
    client = login("Admin")
    html = client.get(url(reader)).content.decode()
    assert html.count("boom") == 2 and MARKUP not in html
    assert "as attempt 1" in client.get(url(reader, f"letters/{one}/redrive")).content.decode()
    client.post(url(reader, f"letters/{one}/redrive"), SURE)
    client.post(url(reader, f"letters/{other}/discard"), SURE)
    [left] = DeadLetter.objects.filter(topic_id=reader.topic_id)
    assert (left.id, left.state) == (one, "redriven")
    assert set(Audit.objects.filter(object_kind="dead-letter").values_list("verb", flat=True)) == {"redrive", "discard"}
    assert "already" in client.get(url(reader, f"letters/{one}/redrive")).content.decode()


def test_redriving_and_discarding_need_their_permission(login, reader):
    letter = world.dead_letter(reader, 0)
    viewer = login("Viewer")
    for verb in ("redrive", "discard"):
        assert viewer.post(url(reader, f"letters/{letter}/{verb}"), SURE).status_code == 403
    assert login("Operator").post(url(reader, f"letters/{letter}/discard"), SURE).status_code == 403
    assert DeadLetter.objects.filter(id=letter, state="dead").exists()


def test_a_lease_is_parked_from_the_page(login, reader):
    held = world.lease(reader, 0, 0, 3)
    client = login("Admin")
    assert "become dead letters" in client.get(url(reader, f"leases/{held}/park")).content.decode()
    client.post(url(reader, f"leases/{held}/park"), SURE)
    assert DeadLetter.objects.filter(topic_id=reader.topic_id).count() == 3
    assert Audit.objects.get(verb="park").reason == "because"


def test_the_page_stays_within_its_queries(login, hook, at_most):
    client = login("Viewer")
    with at_most(20):
        client.get(url(hook))


def test_markup_in_every_field_of_what_pushes_stays_text(login, hook, at_most):
    world.events(hook.topic, 3)
    failing = {"held_code": MARKUP, "held_text": MARKUP, "held_since": "2026-01-01T00:00:00Z", "last_error": MARKUP}
    PushState.objects.create(destination=hook, failures=3, failing_since="2026-01-01T00:00:00Z", **failing)
    hook.settings["webhook"] |= {"url": f"https://h/{MARKUP}", "headers": {MARKUP: MARKUP}}
    hook.save()
    Consumer.objects.filter(consumer_id=hook.consumer_id).update(
        paused_at="2026-01-01T00:00:00Z", pause_reason=MARKUP, paused_by=MARKUP
    )
    held = world.lease(hook, 0, 0, 3, worker=MARKUP, error=MARKUP)
    letter, _ = world.dead_letter(hook, 0, MARKUP), world.seen(hook, MARKUP)
    world.attempt(hook, kind=MARKUP, webhook_id=MARKUP, error=MARKUP, answer=MARKUP)
    client = login("Admin")
    pages = [
        "change",
        "live",
        "pause",
        "resume",
        "seek",
        "test",
        "resend",
        f"leases/{held}/park",
        f"letters/{letter}/redrive",
    ]
    for path in (LIST, *(url(hook, page) for page in pages)):
        with at_most(20):
            answer = client.get(path)
        assert answer.status_code == 200 and MARKUP not in answer.content.decode(), path
    assert client.get(url(hook)).content.decode().count("&lt;script&gt;alert(1)") >= 9
