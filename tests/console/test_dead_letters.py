"""Dead letters in one place, and what may be done about them."""

import json
import re

import pytest

from apps.access.models import Audit
from apps.console.models import Bulk
from apps.console.operations import advance_bulk
from apps.leases.models import DeadLetter
from apps.queues.models import Queue, QueueEvent
from core.json_text import masked, replaced
from tests.console import world

pytestmark = pytest.mark.django_db
LIST = "/admin/dead-letters/"


@pytest.fixture
def billing(db):
    made = world.destination(world.topic(name="orders"), "billing")
    for number in range(3):
        world.dead_letter(made, number, error=f"ValueError: no order {number}", age=3600)
    world.dead_letter(made, 7, error="TimeoutError")
    return made


@pytest.fixture
def letter(billing):
    return DeadLetter.objects.get(offset=7)


def of(letter, billing, verb: str = "") -> str:
    return f"{LIST}{billing.pk}/letters/{letter.id}/{verb + '/' if verb else ''}"


def test_they_are_grouped_by_error_over_destinations_and_queues(login, billing):
    queue = Queue.objects.create(name="mails")
    world.dead_event(queue, error="SMTP 421")
    world.dead_event(queue, error="SMTP 550", age=7200)
    page = login("Operator").get(LIST)
    shown = {(group.kind, group.number, group.home) for group in page.context["groups"]}
    assert shown == {("destination", 3, "billing"), ("destination", 1, "billing"), ("queue", 2, "mails")}
    (mails,) = [group for group in page.context["groups"] if group.kind == "queue"]
    assert mails.error == "SMTP 421" and (mails.last_at - mails.first_at).total_seconds() > 7000
    html = page.content.decode()
    assert "1 h ago" in html and "redrive…" in html and "discard…" not in html


def test_groups_go_on_page_by_page(login, db):
    topic = world.topic()
    for number in range(60):
        world.dead_letter(world.destination(topic, f"d{number}"), 0)
    client = login("Viewer")
    first = client.get(LIST)
    rest = client.get(f"{LIST}?after={first.context['next']}")
    homes = [group.home for page in (first, rest) for group in page.context["groups"]]
    assert len(homes) == len(set(homes)) == 60 and rest.context["next"] == ""


def test_letters_of_one_instant_are_paged_without_loss(login, billing):
    world.execute("DELETE FROM dead_letter")
    for number in range(70):
        world.dead_letter(billing, number, error="same")
    world.execute("UPDATE dead_letter SET last_at = '2026-01-01T00:00:00.123456Z'")
    path = f"{LIST}{billing.pk}/{DeadLetter.objects.first().fingerprint}/"
    client = login("Viewer")
    first = client.get(path)
    rest = client.get(f"{path}?after={first.context['next']}")
    seen = [letter.offset for page in (first, rest) for letter in page.context["letters"]]
    assert sorted(seen) == list(range(70))


def test_all_of_one_error_are_redriven_from_its_row(login, billing):
    client = login("Operator")
    links = re.findall(r'href="(/admin/console/bulk/new/[^"]+)"', client.get(LIST).content.decode())
    pages = [client.get(link.replace("&amp;", "&")) for link in links]
    (path,) = [
        link.replace("&amp;", "&") for link, page in zip(links, pages, strict=True) if b"3 dead letters" in page.content
    ]
    done = client.post(path, {"confirmed": "1", "reason": "fixed", "rate": "100"}, follow=True)
    assert b"0 of 3" in done.content
    assert advance_bulk.advance() == 3
    bulk = Bulk.objects.get()
    html = client.get(f"/admin/console/bulk/{bulk.pk}/live/").content.decode()
    assert "Done: 3 of 3" in html and "fixed" in html
    assert DeadLetter.objects.filter(state="redriven").count() == 3


def test_discarding_many_needs_the_word_and_an_admin(login, billing):
    path = "/admin/console/bulk/new/?verb=discard&objects=dead-letters&name=billing"
    client = login("Admin")
    client.post(path, {"confirmed": "1", "reason": "void", "name": "yes"})
    assert not Bulk.objects.exists()
    client.post(path, {"confirmed": "1", "reason": "void", "name": "discard"})
    assert Bulk.objects.get().total == 4
    assert login("Operator").post(path, {"confirmed": "1", "reason": "x", "name": "discard"}).status_code == 403


def test_a_running_one_is_cancelled_by_who_may_begin_it(login, billing):
    login("Operator").post("/admin/console/bulk/new/?verb=redrive&objects=dead-letters", {"confirmed": "1", "reason": "x"})
    path = f"/admin/console/bulk/{Bulk.objects.get().pk}/cancel/"
    assert login("Viewer").post(path, {"confirmed": "1", "reason": "x"}).status_code == 403
    client = login("Admin")
    assert b"4 items stay as they are" in client.get(path).content
    client.post(path, {"confirmed": "1", "reason": "x"})
    assert Bulk.objects.get().state == "cancelled" and advance_bulk.advance() == 0
    assert b"It has ended." in client.get(path).content


def test_one_is_redriven_or_discarded(login, billing, letter):
    client = login("Admin")
    client.post(of(letter, billing, "redrive"), {"confirmed": "1", "reason": "again"})
    letter.refresh_from_db()
    assert letter.state == "redriven" and Audit.objects.get(verb="redrive").reason == "again"
    assert b"It has been redriven already." in client.get(of(letter, billing, "discard")).content
    other = DeadLetter.objects.get(offset=1)
    client.post(of(other, billing, "discard"), {"confirmed": "1", "reason": "void"})
    assert not DeadLetter.objects.filter(offset=1).exists()


def test_a_letter_is_edited_and_goes_to_the_topic_as_a_new_event(login, billing, letter):
    client = login("Admin")
    text = client.get(of(letter, billing, "resubmit")).context["form"]["event"].value()
    assert "sequence" not in text and json.loads(text)["id"] != "e7"
    sent = {"confirmed": "1", "reason": "typo", "event": text.replace('"n": 7', '"n": 8')}
    assert client.post(of(letter, billing, "resubmit"), sent).status_code == 302
    with world.connection.cursor() as cursor:
        cursor.execute("SELECT body FROM event WHERE topic_id = %s", [billing.topic_id])
        ((body,),) = cursor.fetchall()
    assert json.loads(body)["data"] == {"n": 8}
    assert not DeadLetter.objects.filter(pk=letter.pk).exists()
    assert Audit.objects.get(verb="resubmit").after["sequence"].endswith("0")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"id":"x"}', '{"specversion":"1.0","id":"x","source":"/s","type":"t","data":NaN}']
)
def test_what_is_no_event_is_refused_and_the_letter_stays(login, billing, letter, text):
    answer = login("Admin").post(of(letter, billing, "resubmit"), {"confirmed": "1", "reason": "x", "event": text})
    assert answer.status_code == 200 and 'role="alert"' in answer.content.decode()
    assert DeadLetter.objects.filter(pk=letter.pk).exists()


def test_a_dead_event_of_a_queue_is_edited_and_enqueued(login, db):
    queue = Queue.objects.create(name="mails")
    dead = world.dead_event(queue, payload='{"to":"anna"}')
    path = f"{LIST}queues/{queue.pk}/{dead}/resubmit/"
    client = login("Admin")
    assert b"resubmit" in client.get(f"/admin/queues/queue/{queue.pk}/events/{dead}/").content
    for bad in ("", "[]", "{", '{"a":1e999}'):
        assert client.post(path, {"confirmed": "1", "reason": "x", "event": bad}).status_code == 200
    client.post(path, {"confirmed": "1", "reason": "typo", "event": '{"to":"ana"}'})
    made = QueueEvent.objects.get()
    assert (made.state, made.payload) == ("ready", '{"to":"ana"}')


CARD = '{"card":"4111"}'
FORGED = [
    ("Viewer", "redrive"),
    ("Viewer", "discard"),
    ("Operator", "discard"),
    ("Operator", "resubmit"),
    ("Viewer", "resubmit"),
]


@pytest.mark.parametrize(("role", "verb"), FORGED)
def test_a_forged_post_is_forbidden(login, billing, letter, role, verb):
    answer = login(role).post(of(letter, billing, verb), {"confirmed": "1", "reason": "x", "event": letter.body})
    assert answer.status_code == 403 and DeadLetter.objects.get(pk=letter.pk).state == "dead"


def test_payloads_need_their_permission(login, billing, letter):
    assert "order.made" not in login("Operator").get(of(letter, billing)).content.decode()
    assert "order.made" in login("Admin").get(of(letter, billing)).content.decode()


def test_named_fields_are_hidden_from_everybody_and_such_a_letter_is_not_edited(login, billing, settings):
    settings.TOWPATH = {**settings.TOWPATH, "MASKED_FIELDS": frozenset({"card"})}
    made = world.dead_letter(billing, 9, body='{"id":"x","source":"/s","type":"t","data":{"Card":{"no":"4111"},"n":1.10}')
    client, path = login("Admin"), f"{LIST}{billing.pk}/letters/{made}/"
    html = client.get(path).content.decode()
    assert "4111" not in html and "•••" in html and "1.10" in html
    refused = client.post(f"{path}resubmit/", {"confirmed": "1", "reason": "x", "event": "{}"}).content.decode()
    assert "fields that are hidden here (card)" in refused and DeadLetter.objects.filter(id=made).exists()
    queue = Queue.objects.create(name="mails")
    dead = f"{queue.pk}/{world.dead_event(queue, payload=CARD)}"
    for shown in (f"{LIST}queues/{dead}/resubmit/", f"/admin/queues/queue/{dead.replace('/', '/events/')}/raw/"):
        assert "4111" not in client.get(shown).content.decode()
    assert "4111" not in client.get(f"{path}resubmit/").content.decode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"a":"x","b":[{"A":{"c":[1,{}]}},2]}', '{"a":"•••","b":[{"A":"•••"},2]}'),
        ('{"\\u0061":1, "b":"a"}', '{"\\u0061":"•••", "b":"a"}'),
        ('{"a" : {} ,"a":[ ]}', '{"a" : "•••" ,"a":"•••"}'),
        ('["a","b"]', '["a","b"]'),
        ('{"x":"\\"a\\":1"}', '{"x":"\\"a\\":1"}'),
        ("no json, a: 1", "no json, a: 1"),
        ('{"a":', '{"a":'),
        ("", ""),
    ],
)
def test_hiding_touches_nothing_else(text, shown):
    assert masked(text, {"a"}) == shown


def test_members_are_replaced_at_their_depth_only():
    assert (
        replaced('{"id":1,"d":{"id":2}}', lambda depth, name: "9" if (depth, name) == (1, "id") else None)
        == '{"id":9,"d":{"id":2}}'
    )


def test_markup_in_every_field_is_escaped(login, db):
    evil = "<script>alert(1)</script>"
    home = world.destination(world.topic(), evil)
    queue = Queue.objects.create(name=evil)
    world.dead_event(queue, error=evil, payload=json.dumps({"a": evil}))
    made = world.dead_letter(home, 0, error=evil, body=json.dumps({"id": evil, "data": evil})[:-1])
    client = login("Admin")
    client.post("/admin/console/bulk/new/?verb=redrive&objects=dead-letters", {"confirmed": "1", "reason": evil})
    world.execute("UPDATE bulk_item SET state = 'failed', note = %s", evil)
    bulk = Bulk.objects.get()
    path = f"{LIST}{home.pk}/letters/{made}/"
    of_error = f"{LIST}{home.pk}/{DeadLetter.objects.get().fingerprint}/"
    for each in (LIST, path, of_error, f"{path}redrive/", f"{path}resubmit/",
                 f"/admin/console/bulk/{bulk.pk}/change/", f"/admin/console/bulk/{bulk.pk}/cancel/", "/admin/console/bulk/",
                 "/admin/console/bulk/new/?verb=redrive&objects=dead-letters"):  # fmt: skip
        answer = client.get(each)
        assert answer.status_code == 200 and evil not in answer.content.decode(), each


def test_few_queries_do(login, billing, letter, at_most):
    client = login("Admin")
    client.post("/admin/console/bulk/new/?verb=redrive&objects=dead-letters", {"confirmed": "1", "reason": "x"})
    bulk = Bulk.objects.get()
    for path in (LIST, of(letter, billing), of(letter, billing, "resubmit"), f"{LIST}{billing.pk}/{letter.fingerprint}/",
                 f"/admin/console/bulk/{bulk.pk}/change/", "/admin/console/bulk/",
                 "/admin/console/bulk/new/?verb=pause&objects=destinations"):  # fmt: skip
        with at_most(19):
            assert client.get(path).status_code == 200
