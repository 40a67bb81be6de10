"""Fields that an installation names are hidden from everybody, wherever a payload or a part of it can be seen."""

import pytest
from django.utils import timezone
from msgspec import Raw

from apps.access.models import Audit
from apps.channels.models import Channel
from apps.channels.operations.publish import Target, publish
from apps.destinations.models import Destination, PushState, Type
from apps.leases.models import DeadLetter
from apps.queues.models import Queue, Schedule
from apps.queues.operations import schedules
from core.masking import shown_payload, shown_text
from tests.console import world

pytestmark = pytest.mark.django_db
NUMBER = "4111-1111"
BODY = f'{{"id":"e7","type":"order.made","data":{{"n":1.10,"Card":{{"no":"{NUMBER}"}}}}}}'
ECHO = f"ValueError: no such order {BODY}"


@pytest.fixture(autouse=True)
def hiding(settings):
    settings.TOWPATH = {**settings.TOWPATH, "MASKED_FIELDS": frozenset({"card", "subject"})}


@pytest.fixture
def billing(db):
    topic = world.topic(name="orders")
    world.event(topic, 0, BODY, subject=NUMBER, partition_key=NUMBER)
    return world.destination(topic, "billing")


@pytest.fixture
def mails(db):
    return Queue.objects.create(name="mails")


def text(client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()


def of_topic(billing, mails, error=ECHO) -> list[str]:
    topic = f"/admin/topics/topic/{billing.topic_id}"
    return [f"{topic}/change/", f"{topic}/change/?key={NUMBER[:4]}", f"{topic}/change/?partition=0", f"{topic}/events/0/0/",
            f"{topic}/events/0/0/raw/", f"{topic}/events/csv/"]  # fmt: skip


def of_letters(billing, mails, error=ECHO) -> list[str]:
    world.dead_letter(billing, 0, error=error, body=BODY[:-1])
    world.lease(billing, 0, 0, 1, error=error)
    letter = DeadLetter.objects.get()
    home, one = f"/admin/dead-letters/{billing.pk}", f"/admin/dead-letters/{billing.pk}/letters/{letter.id}"
    page = f"/admin/destinations/destination/{billing.pk}"
    return ["/admin/", "/admin/dead-letters/", "/admin/dead-letters/csv/", f"{home}/{letter.fingerprint}/",
            f"{home}/{letter.fingerprint}/csv/", f"{one}/", f"{one}/redrive/", f"{one}/discard/", f"{one}/resubmit/",
            f"{page}/change/", f"{page}/live/", f"{page}/letters/{letter.id}/redrive/", "/admin/leases/",
            "/admin/leases/csv/", "/admin/destinations/destination/", "/admin/destinations/destination/csv/",
            "/admin/console/bulk/new/?verb=redrive&objects=dead-letters"]  # fmt: skip


def of_queue(billing, mails, error=ECHO) -> list[str]:
    dead = world.dead_event(mails, error=error, payload=BODY)
    queue = f"/admin/queues/queue/{mails.pk}"
    return [f"{queue}/change/?state=dead", f"{queue}/events/{dead}/", f"{queue}/events/{dead}/raw/",
            f"{queue}/events/csv/?state=dead", f"{queue}/events/{dead}/do/redrive/", "/admin/dead-letters/",
            f"/admin/dead-letters/queues/{mails.pk}/{dead}/resubmit/", "/admin/dead-letters/csv/",
            "/admin/console/bulk/new/?verb=redrive&objects=queue-dead-letters"]  # fmt: skip


def of_webhook(billing, mails, error=ECHO) -> list[str]:
    target = {"webhook": {"url": "https://x.example", "timeoutSeconds": 5, "maxBatchSize": 100}}
    Destination.objects.filter(pk=billing.pk).update(type=Type.WEBHOOK, settings=target)
    PushState.objects.create(
        destination=billing, failures=7, held_code="breaker_open", held_text=error, held_since="2026-01-01T00:00:00Z",
        failing_since="2026-01-01T00:00:00Z", last_error=error,
    )  # fmt: skip
    world.attempt(billing, error=error, answer=BODY[:-8])
    return [f"/admin/destinations/destination/{billing.pk}/change/", "/admin/", "/admin/destinations/destination/",
            "/admin/destinations/destination/csv/"]  # fmt: skip


def of_channel(billing, mails, error=ECHO) -> list[str]:
    publish([Target("job:42", {"job": Raw(BODY.encode())})], "job.started", BODY)
    channel = f"/admin/channels/channel/{Channel.objects.get().pk}"
    return [f"{channel}/change/", f"{channel}/events/1/", f"{channel}/events/1/raw/"]


def of_schedule(billing, mails, error=ECHO) -> list[str]:
    made = Schedule.objects.create(
        queue=mails, name="nightly", payload=BODY, cron="0 4 * * *", created_at=timezone.now(), planned_until=timezone.now()
    )
    schedules.change(None, made.pk, "later", cron="0 5 * * *")
    entry = Audit.objects.get(object_kind="schedule")
    return [
        f"/admin/queues/schedule/{made.pk}/change/",
        f"/admin/access/audit/{entry.pk}/change/",
        "/admin/access/audit/csv/",
    ]


PLACES = [of_topic, of_letters, of_queue, of_webhook, of_channel, of_schedule]


@pytest.mark.parametrize("place", PLACES)
def test_a_hidden_field_is_on_no_page_and_in_no_file(login, billing, mails, place):
    client = login("Admin")
    shown = {path: text(client, path) for path in place(billing, mails)}
    assert [path for path, html in shown.items() if NUMBER in html] == []
    assert any("•••" in html for html in shown.values())


@pytest.mark.parametrize("place", PLACES)
def test_what_is_not_hidden_is_shown_to_those_who_may_see_payloads(login, billing, mails, place, settings):
    """The pages do show what was hidden in the test before."""
    settings.TOWPATH = {**settings.TOWPATH, "MASKED_FIELDS": frozenset()}
    client = login("Admin")
    assert any(NUMBER in text(client, path) for path in place(billing, mails))


@pytest.mark.parametrize("place", PLACES)
def test_without_the_permission_no_payload_is_shown_at_all(login, billing, mails, place, settings):
    settings.TOWPATH = {**settings.TOWPATH, "MASKED_FIELDS": frozenset()}
    client = login("Viewer")
    answers = {path: client.get(path) for path in place(billing, mails, "ValueError: refused")}
    assert {answer.status_code for answer in answers.values()} <= {200, 403}
    shown = {path: text(client, path) for path, answer in answers.items() if answer.status_code == 200}
    assert shown and [path for path, html in shown.items() if "1.10" in html or "Card" in html] == []


def test_a_channel_is_not_followed_where_fields_are_hidden(login, billing, mails):
    channel = of_channel(billing, mails)[0].replace("change/", "follow/")
    client = login("Admin")
    html = text(client, channel)
    assert "hidden from everybody (card, subject)" in html and "follow.js" not in html
    assert client.post(f"{channel}grant/").status_code == 403


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ('no: {"Card":"4111","n":1}', 'no: {"Card":"•••","n":1}'),
        ("no: {'card': '4111', 'n': 1}", "no: {'card': •••, 'n': 1}"),
        ("card=4111 1111 n=1", "card=•••"),
        ("CARD: 4111, n: 1", "CARD: •••, n: 1"),
        ("{'card': {'no': '4111', 'x': [1]}, 'n': 1}", "{'card': •••, 'n': 1}"),
        ("{'card': {'no': '4111'", "{'card': •••"),
        ('"{\\"card\\":\\"4111 1\\",\\"n\\":1}"', '"{\\"card\\":•••,\\"n\\":1}"'),
        ('{"card":"4111 1111', '{"card":"•••"'),
        ("<card>4111 1</card><n>1</n>", "<card>•••</card><n>1</n>"),
        ("<Card a='x'><no>4111</no></Card><n>1</n>", "<Card a='x'>•••</Card><n>1</n>"),
        ("<card>4111", "<card>•••"),
        ("Order(card='4111', n=1)", "Order(card=•••, n=1)"),
        ('{:card=>"4111", :n=>1}', "{:card=>•••, :n=>1}"),
        ("postcard: 7, a-card: 8, cards: 9", "postcard: 7, a-card: 8, cards: 9"),
        ("the card was refused", "the card was refused"),
        ("", ""),
    ],
)
def test_text_that_repeats_a_payload_is_shown_without_the_fields(given, shown):
    assert shown_text(given) == shown


def test_a_payload_keeps_what_is_not_hidden_as_it_was_sent():
    assert shown_payload(f' {{"n":1.10,"card":"{NUMBER}","e":"\\u00e9"}}') == ' {"n":1.10,"card":"•••","e":"\\u00e9"}'
    assert shown_payload("card=4111;n=1") == "card=•••;n=1"
