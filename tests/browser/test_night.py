"""One night from the page to the button and back: a real server, a worker that talks to it, and an administrator."""

import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.access.models import Audit
from apps.cursors.models import Consumer, Group
from apps.destinations.models import Destination
from apps.leases.models import DeadLetter
from tests.browser.worker import Client, Worker
from tests.console import world
from tests.factories import api_key

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/admin/destinations/destination/"


@pytest.fixture
def night(real_server):
    """Two partitions of 60 events: 20 of yesterday, 40 of the last hour. worker-7 sits on a batch that failed before."""
    topic = world.topic(partitions=2, name="orders")
    for partition in range(2):
        world.events(topic, 60, partition=partition, age=3600)
    world.execute("UPDATE event SET appended_at = appended_at - interval '1 day' WHERE \"offset\" < 20")
    client = Client(real_server, api_key())
    for name in ("archive", "billing"):
        sent = {"name": name, "type": "DURABLE_CONSUMER", "topic": "orders", "startAt": "oldest"}
        assert client.call("POST", "/v1/event-destinations", sent)[0] == 201
    assert client.call("POST", "/v1/event-destinations/archive/pause", {"reason": "moved"})[0] == 200
    reader = client.destination("billing")
    for _ in range(4):
        assert reader.acknowledge(reader.pull("worker-6", limit=20)[1]) == "committed"
    reader.acknowledge(reader.pull("worker-7", limit=10)[1], "failed", error="KeyError: customer")
    held = reader.pull("worker-7", visibility=600)[1]
    assert (held["attempt"], len(held["events"])) == (2, 10)
    partition = int(held["events"][0]["sequence"][:3])
    return SimpleNamespace(reader=reader, held=held, partition=partition, row=Destination.objects.get(name="billing"))


@pytest.fixture
def hire(night):
    """Starts a worker of billing; whoever still works at the end of the test is stopped."""
    hired = []

    def start(name: str = "worker-8") -> Worker:
        hired.append(Worker(night.reader, name))
        hired[-1].start()
        return hired[-1]

    yield start
    for worker in hired:
        worker.rest()


def change(night) -> str:
    return f"{LIST}{night.row.pk}/change/"


def confirm(page, button: str, reason: str, **fields: str) -> None:
    for name, value in {"reason": reason, **fields}.items():
        page.fill(f"[name={name}]", value)
    page.locator("form.tp-confirm button[type=submit]", has_text=button).click()


def moves(page) -> list[list[str]]:
    """The preview: partition, before, after."""
    rows = page.locator("section", has=page.locator("#steps")).locator("tbody tr")
    return [cells.split()[:3] for cells in rows.all_inner_texts()]


def positions(night) -> list[int]:
    return [int(part["position"][4:]) for part in night.reader.get("lag")["partitions"]]


def expected(night, held: int, other: int) -> list[int]:
    return [held if number == night.partition else other for number in range(2)]


def is_told(page, text: str) -> None:
    page.locator("body", has_text=text).wait_for()


def all_but_the_held_batch_is_done(night, worker) -> None:
    worker.sees(lambda seen: len(seen.given) == 30 and seen.answers[-1] == 204)
    world.execute("UPDATE lease SET leased_at = leased_at - interval '15 minutes'")


def test_a_stuck_reader_is_found_paused_moved_and_mended(visit_real, night, hire):
    worker = hire()
    all_but_the_held_batch_is_done(night, worker)
    page = visit_real("Admin", name="ana")
    _find_it(page, night)
    _pause_and_resume(page, night, worker)
    _seek_back(page, night, worker)
    worker.rest()
    _undo(page, night)
    _park_and_redrive(page, night, hire)


def _find_it(page, night) -> None:
    first = page.locator(".tp-attention li", has_not_text="Beat is silent").first
    assert "billing" in first.inner_text() and "cursor held at" in first.inner_text()
    assert "archive" in page.inner_text(".tp-attention")
    first.locator("a:text('billing')").click()
    page.wait_for_url(f"**{change(night)}")
    sequence = f"00{night.partition}.{40:020d}"
    line = f"cursor held at {sequence} by lease {night.held['leaseId']} of worker-7, attempt 2"
    assert line in page.inner_text("#cause")
    assert night.reader.get("lag")["cause"]["text"] == line


def _pause_and_resume(page, night, worker) -> None:
    page.click("a:text('Pause…')")
    until = timezone.now() + timedelta(hours=3)
    confirm(page, "Pause", "bad order", resume_at=until.strftime("%Y-%m-%dT%H:%M"))
    is_told(page, "Paused billing.")
    assert re.search(r"paused by ana until [^:]*\d\d:\d\d UTC: bad order", page.inner_text("#cause"))
    worker.forget()
    worker.sees(lambda seen: 409 in seen.answers)
    assert set(worker.refused) == {"DESTINATION_PAUSED"}
    page.click("a:text('Resume…')")
    confirm(page, "Resume", "mended")
    is_told(page, "Resumed billing.")
    worker.forget()
    worker.sees(lambda seen: 204 in seen.answers)
    assert "cursor held at" in page.inner_text("#cause")


def _seek_back(page, night, worker) -> None:
    page.click("a:text('Seek…')")
    page.select_option("[name=to]", "time")
    page.fill("[name=time]", (timezone.now() - timedelta(hours=12)).strftime("%Y-%m-%dT%H:%M:%S"))
    page.click("button:text('Preview')")
    is_told(page, "80 events that were handed out before will be delivered again.")
    assert "1 lease in the way" in page.inner_text(".tp-effects")
    before = [str(place) for place in expected(night, 40, 60)]
    assert moves(page) == [[str(number), before[number], "20"] for number in range(2)]
    confirm(page, "Seek", "the parser was wrong", name="biling")
    is_told(page, "This is not billing.")
    assert positions(night) == [60, 60]
    worker.forget()
    confirm(page, "Seek", "the parser was wrong", name="billing")
    is_told(page, "billing is moved. 80 events will be delivered again, 1 lease fenced.")
    worker.sees(lambda seen: len(seen.given) == 80)
    assert {sequence for sequence, _ in worker.given} == {
        f"00{partition}.{offset:020d}" for partition in range(2) for offset in range(20, 60)
    }
    assert night.reader.acknowledge(night.held) == "stale"


def _undo(page, night) -> None:
    page.locator("a:text('undo…')").first.click()
    assert [step[2] for step in moves(page)] == [str(place) for place in expected(night, 40, 60)]
    confirm(page, "Seek", "it was right", name="billing")
    is_told(page, "billing is moved. 20 events will be delivered again")
    assert positions(night) == expected(night, 40, 60)
    assert [row.reason for row in Audit.objects.filter(verb="seek").order_by("id")] == [
        "the parser was wrong",
        "it was right",
    ]


def _park_and_redrive(page, night, hire) -> None:
    held = night.reader.pull("worker-7", limit=1, visibility=600)[1]
    (poison,) = (event["sequence"] for event in held["events"])
    page.goto(change(night))
    page.locator("tr", has_text="worker-7").locator("a:text('park…')").click()
    confirm(page, "Park", "poison")
    is_told(page, "Parked: 1 dead letter, and the cursor may pass.")
    assert night.reader.acknowledge(held) == "stale"
    worker = hire("worker-9")
    worker.sees(lambda seen: len(seen.given) == 19)
    assert poison not in dict(worker.given)
    letters = page.locator("section", has=page.locator("#letters"))
    assert poison in letters.inner_text() and "Parked by an operator: poison" in letters.inner_text()
    letters.locator("tbody a:text('redrive…')").click()
    confirm(page, "Redrive", "the worker is mended")
    is_told(page, "The event is handed out again.")
    worker.sees(lambda seen: len(seen.given) == 20)
    assert worker.given[-1] == (poison, 1)
    page.locator("#cause", has_text="caught up").wait_for()
    assert night.reader.get("lag")["lagEvents"] == 0


@pytest.fixture
def actions(night):
    """The page of each action on billing, on a lease and a dead letter of it, and on a group of its topic."""
    letter, lease = world.dead_letter(night.row, 3), night.held["leaseId"]
    fingerprint = DeadLetter.objects.get().fingerprint
    of_one, of_letter = f"{LIST}{night.row.pk}", f"/admin/dead-letters/{night.row.pk}/letters/{letter}"
    bulk = f"/admin/console/bulk/new/?name=billing&objects=dead-letters&fingerprint={fingerprint}"
    readers = Group.objects.get(consumer_id=world.group(night.row.topic, "readers").consumer_id)
    return [
        f"/admin/cursors/group/{readers.pk}/seek/",
        *(f"{of_one}/{verb}/" for verb in ("pause", "resume", "seek")),
        *(f"{of_one}/leases/{lease}/{verb}/" for verb in ("expire", "extend", "park")),
        *(f"{of_one}/letters/{letter}/{verb}/" for verb in ("redrive", "discard")),
        *(f"{of_letter}/{verb}/" for verb in ("redrive", "discard", "resubmit")),
        *(f"{bulk}&verb={verb}" for verb in ("redrive", "discard")),
    ]


def forged(page, path: str, **form: str):
    """As a page of somebody else would send it, with everything that the server asks but the permission."""
    token = next(each["value"] for each in page.context.cookies() if each["name"] == "csrftoken")
    sent = {"csrfmiddlewaretoken": token, "reason": "forged", "name": "billing", "seconds": "60", **form}
    return page.request.post(path, form=sent, headers={"Referer": page.url}, max_redirects=0)


def working_buttons(page) -> list[str]:
    """What is named like an action, and could be pressed."""
    return page.evaluate(
        """() => [...document.querySelectorAll('#content a, #content button, #content input[type=submit]')]
            .filter(each => /…$/.test(each.textContent.trim()) && !each.disabled).map(each => each.textContent.trim())"""
    )


def test_a_viewer_has_no_button_that_works_and_forges_none(visit_real, night, actions):
    admin, viewer = visit_real("Admin", name="ana"), visit_real("Viewer")
    group, letter = actions[0].replace("seek", "change"), actions[9].removesuffix("redrive/")
    lists = ["/admin/", LIST, "/admin/leases/", "/admin/dead-letters/", "/admin/console/bulk/"]
    pages = [*lists, change(night), letter, group]
    offered = set()
    for path in pages:
        admin.goto(path)
        viewer.goto(path)
        offered |= set(working_buttons(admin))
        assert working_buttons(viewer) == [], path
        assert viewer.locator("select[name=action]").count() == 0, path
    assert {"Pause…", "Seek…", "expire…", "park…", "redrive…", "discard…"} <= offered
    for path in actions:
        assert forged(admin, path, at=f"000.{0:020d}").status == 200, path  # asks first: nothing is confirmed
        assert forged(viewer, path, at=f"000.{0:020d}", confirmed="1").status == 403, path
    for verb in ("pause_selected", "resume_selected"):
        sent = {"action": verb, "_selected_action": str(night.row.pk)}
        assert forged(admin, LIST, **sent).status == 200
        assert forged(viewer, LIST, **sent, confirmed="1").status == 403
    assert not Audit.objects.filter(actor_name="viewer").exists()
    assert Consumer.objects.get(consumer_id=night.row.consumer_id).paused_at is None
    assert DeadLetter.objects.get().state == "dead" and positions(night) == expected(night, 50, 40)
