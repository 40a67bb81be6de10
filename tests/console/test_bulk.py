"""Bulk operations: a filter, a frozen set, and what became of each of it."""

import pytest

from apps.access.models import Audit
from apps.console.models import Bulk, BulkItem
from apps.console.operations import advance_bulk as bulk
from apps.console.operations.cancel_bulk import forget_items
from apps.console.selectors.dead_letters import of_queues
from apps.cursors.models import Consumer
from apps.leases.models import DeadLetter
from apps.queues.models import Queue
from tests.console import world

pytestmark = pytest.mark.django_db
PATH = "/v1/bulk-operations"


@pytest.fixture
def billing(db):
    topic = world.topic(name="orders")
    made = world.destination(topic, "billing")
    for number in range(3):
        world.dead_letter(made, number, error=f"ValueError: no order {number}")
    world.dead_letter(made, 7, error="TimeoutError")
    return made


def asked(verb="redrive", objects="dead-letters", **more):
    return {"verb": verb, "objects": objects, "reason": "back again", **more}


def test_all_that_match_are_redriven_and_what_became_of_each_is_kept(api, billing):
    fingerprint = DeadLetter.objects.filter(offset=0).get().fingerprint
    sent = asked(filter={"name": "billing", "fingerprint": fingerprint})
    made = api.post(PATH, sent)
    assert made.status_code == 201, made.content
    assert made.json()["total"] == 3 and made.headers["Location"] == f"{PATH}/{made.json()['id']}"
    assert DeadLetter.objects.filter(state="redriven").count() == 0
    assert bulk.advance() == 3
    shown = api.get(made.headers["Location"]).json()
    assert (shown["state"], shown["processed"], shown["skipped"], shown["failed"]) == ("done", 3, 0, 0)
    assert sorted(DeadLetter.objects.filter(state="redriven").values_list("offset", flat=True)) == [0, 1, 2]
    rows = Audit.objects.filter(verb="redrive")
    assert rows.count() == 3 and made.json()["id"] in rows[0].reason
    assert Audit.objects.get(verb="begin").object_name == "billing"


def test_the_set_is_frozen_and_what_is_gone_meanwhile_is_skipped(api, billing):
    made = api.post(PATH, asked("discard")).json()
    world.dead_letter(billing, 8, error="came later")
    world.execute('DELETE FROM dead_letter WHERE "offset" = 1')
    bulk.advance()
    shown = api.get(f"{PATH}/{made['id']}").json()
    assert (shown["total"], shown["processed"], shown["skipped"]) == (4, 4, 1)
    assert DeadLetter.objects.get().offset == 8
    (item,) = api.get(f"{PATH}/{made['id']}/items?state=skipped").json()["items"]
    assert item["note"] == "There is no such dead letter." and item["target"]


def test_a_dry_run_counts_and_shows_some_and_begins_nothing(api, billing):
    answer = api.post(PATH, asked(dryRun=True)).json()
    assert (answer["matching"], answer["more"], len(answer["sample"])) == (4, False, 4)
    assert answer["sample"][0]["name"] == "billing" and not Bulk.objects.exists()


def test_a_rate_bounds_what_one_run_does(api, billing):
    for number in range(10, 20):
        world.dead_letter(billing, number)
    made = api.post(PATH, asked(rate=2)).json()
    assert bulk.advance() == 10
    assert api.get(f"{PATH}/{made['id']}").json()["state"] == "running"
    assert bulk.advance() == 4
    bulk.advance()
    assert api.get(f"{PATH}/{made['id']}").json()["state"] == "done"


def test_a_cancelled_one_goes_no_further_and_is_not_cancelled_twice(api, billing):
    made = api.post(PATH, asked()).json()
    answer = api.post(f"{PATH}/{made['id']}/cancel", {"reason": "too soon"})
    assert answer.json()["state"] == "cancelled"
    assert bulk.advance() == 0 and BulkItem.objects.filter(state="pending").count() == 4
    again = api.post(f"{PATH}/{made['id']}/cancel")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "BULK_ENDED")
    assert Audit.objects.get(verb="cancel").reason == "too soon"


def test_destinations_and_queues_are_paused_and_resumed_by_filter(api, billing):
    other = world.destination(world.topic(name="mails"), "mailer")
    Queue.objects.create(name="jobs")
    api.post(PATH, asked("pause", "destinations", filter={"topic": "orders"}))
    api.post(PATH, asked("pause", "queues"))
    bulk.advance()
    assert Consumer.objects.get(consumer_id=billing.consumer_id).paused_at is not None
    assert Consumer.objects.get(consumer_id=other.consumer_id).paused_at is None
    assert Queue.objects.get().paused_at is not None
    api.post(PATH, asked("resume", "destinations", filter={"state": "paused"}))
    bulk.advance()
    assert Consumer.objects.get(consumer_id=billing.consumer_id).paused_at is None


def test_dead_events_of_queues_are_found_by_their_error(api, db):
    queue = Queue.objects.create(name="jobs")
    for number in range(3):
        world.dead_event(queue, error=f"no user {number}")
    world.dead_event(queue, error="other")
    (first, _) = of_queues([queue])
    api.post(PATH, asked(objects="queue-dead-letters", filter={"fingerprint": first.fingerprint}))
    assert bulk.advance() == first.number
    assert api.get("/v1/event-queues/jobs/dead-letters").json()["data"]["items"].__len__() == 4 - first.number


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        (asked("pause"), "verb"),
        (asked("redrive", "queues"), "verb"),
        (asked(filter={"state": "held"}), "filter.state"),
        (asked("pause", "queues", filter={"topic": "orders"}), "filter.topic"),
        (asked(filter={"name": "nobody"}), "filter"),
        (asked(filter={"fingerprint": "X"}), "filter.fingerprint"),
        (asked(rate=0), "rate"),
        (asked(speed=1), "speed"),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(api, billing, sent, field):
    answer = api.post(PATH, sent)
    assert answer.status_code == 400 and answer.json()["error"]["details"]["field"] == field
    assert not Bulk.objects.exists()


def test_a_narrowed_token_reaches_and_sees_its_own_names_only(api, api_with, billing):
    world.dead_letter(world.destination(billing.topic, "mailer"), 1)
    narrow, other = api_with("manage:events mail*"), api_with("manage:events x*")
    made = narrow.post(PATH, asked()).json()
    assert made["total"] == 1
    api.post(PATH, asked())
    assert [row["id"] for row in narrow.get(PATH).json()["items"]] == [made["id"]]
    assert len(api.get(PATH).json()["items"]) == 2
    assert other.get(f"{PATH}/{made['id']}").status_code == 404
    assert other.post(f"{PATH}/{made['id']}/cancel").status_code == 404
    assert api_with("manage:queues").post(PATH, asked()).status_code == 403
    assert api_with("read:events").get(PATH).status_code == 403


def test_one_that_fails_fails_alone(api, billing):
    """A letter that its table refuses: the others are done."""
    made = api.post(PATH, asked()).json()
    world.execute("ALTER TABLE lease ADD CONSTRAINT refuse CHECK (first_offset <> 7)")
    bulk.advance()
    shown = api.get(f"{PATH}/{made['id']}").json()
    assert (shown["processed"], shown["failed"], shown["state"]) == (4, 1, "done")
    (item,) = api.get(f"{PATH}/{made['id']}/items?state=failed").json()["items"]
    assert "refuse" in item["note"]


def test_items_of_old_ones_are_forgotten_but_not_what_they_did(api, billing):
    made = api.post(PATH, asked()).json()
    bulk.advance()
    assert forget_items() == 0
    world.execute("UPDATE bulk SET ended_at = ended_at - interval '31 days'")
    assert forget_items() == 4
    assert api.get(f"{PATH}/{made['id']}").json()["processed"] == 4


def test_a_preview_counts_up_to_a_bound_and_one_operation_takes_the_most_it_can(api, billing, monkeypatch):
    monkeypatch.setattr("apps.console.selectors.bulk.COUNTED", 2)
    answer = api.post(PATH, asked(dryRun=True)).json()
    assert (answer["matching"], answer["more"]) == (2, True)
    monkeypatch.setattr("apps.console.operations.begin_bulk.MOST", 3)
    assert api.post(PATH, asked()).json()["total"] == 3
