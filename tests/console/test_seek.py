"""The seek page: what would happen in each partition, the name typed, and the way back."""

import re

import pytest

from apps.access.models import Audit
from tests.console import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing(db):
    topic = world.topic(partitions=2, name="orders")
    for partition in range(2):
        world.events(topic, 100, partition=partition, age=3600)
    made = world.destination(topic, "billing")
    world.execute("UPDATE cursor SET position = 60 WHERE consumer_id = %s", made.consumer_id)
    return made


def url(destination) -> str:
    return f"/admin/destinations/destination/{destination.pk}/seek/"


def positions(destination) -> list[int]:
    with world.connection.cursor() as cursor:
        cursor.execute("SELECT position FROM cursor WHERE consumer_id = %s ORDER BY partition", [destination.consumer_id])
        return [row[0] for row in cursor.fetchall()]


def carried(html: str) -> list[str]:
    return re.findall(r'name="at" value="([\d.]+)"', html)


def test_a_preview_says_before_and_after_and_moves_nothing(login, billing):
    world.lease(billing, 0, 50, 10, worker="worker-7")
    html = login("Admin").get(url(billing) + "?to=oldest").content.decode()
    assert "120 events that were handed out before will be delivered again" in html
    assert "1 lease in the way" in html
    assert carried(html) == ["000.00000000000000000000", "001.00000000000000000000"]
    assert positions(billing) == [60, 60] and not Audit.objects.exists()


def test_what_was_seen_is_what_happens_and_the_way_back_is_on_the_page(login, billing):
    world.lease(billing, 0, 50, 10)
    client = login("Admin")
    places = carried(client.get(url(billing) + "?to=head").content.decode())
    world.event(billing.topic, 100)
    sent = {"confirmed": "1", "reason": "all of it is void", "name": "billing", "at": places}
    done = client.post(url(billing), sent, follow=True).content.decode()
    assert positions(billing) == [100, 100]
    assert "1 lease fenced" in done and "all of it is void" in done
    entry = Audit.objects.get(verb="seek")
    assert entry.before == {"at": ["000.00000000000000000050", "001.00000000000000000060"]}
    back = re.search(r'href="(\?to=sequence[^"]+)"', done)[1].replace("&amp;", "&")
    places = carried(client.get(url(billing) + back).content.decode())
    client.post(url(billing), {**sent, "at": places, "reason": "back"})
    assert positions(billing) == [50, 60]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?to=time", "A time is needed."),
        ("?to=sequence", "A sequence is needed"),
        ("?to=sequence&sequence=000.00000000000000000101", "Partition 0 holds offsets 0 to 99."),
        ("?to=sequence&sequence=007.00000000000000000001", "This topic has the partitions 0 to 1."),
        ("?to=sequence&sequence=<b>", "Must be a sequence"),
        ("?to=nowhere", "Select a valid choice"),
    ],
)
def test_a_place_that_is_none_is_refused_in_words(login, billing, query, said):
    answer = login("Admin").get(url(billing) + query)
    assert answer.status_code == 200 and said in answer.content.decode() and "<b>" not in answer.content.decode()


def test_a_time_is_the_time_of_appending_in_the_administrators_zone(login, billing):
    world.execute("UPDATE event SET appended_at = '2026-11-01T12:00:00Z' WHERE \"offset\" < 30")
    client = login("Admin")
    client.cookies["towpath_zone"] = "Europe/Berlin"
    html = client.get(url(billing) + "?to=time&time=2026-11-01T13:00:01").content.decode()
    assert carried(html) == ["000.00000000000000000030", "001.00000000000000000030"]


def test_the_name_has_to_be_typed_and_a_reason_given(login, billing):
    client = login("Admin")
    sent = {"confirmed": "1", "at": ["000.00000000000000000000"]}
    for more in ({"reason": "x", "name": "billin"}, {"name": "billing"}, {"reason": "x"}):
        assert client.post(url(billing), {**sent, **more}).status_code == 200
    assert positions(billing) == [60, 60]


def test_a_forged_place_is_refused(login, billing):
    sent = {"confirmed": "1", "reason": "x", "name": "billing", "at": ["000.x"]}
    assert login("Admin").post(url(billing), sent).status_code == 400
    assert positions(billing) == [60, 60]


@pytest.mark.parametrize("role", ["Viewer", "Operator"])
def test_only_an_admin_seeks(login, billing, role):
    client = login(role)
    assert client.get(url(billing)).status_code == 403
    forged = {"confirmed": "1", "reason": "x", "name": "billing", "at": ["000.00000000000000000000"]}
    assert client.post(url(billing), forged).status_code == 403
    assert positions(billing) == [60, 60]
    assert "Your role may not seek." in client.get(f"/admin/destinations/destination/{billing.pk}/change/").content.decode()


def test_a_name_with_markup_is_escaped(login, billing):
    billing.name = "<i>billing"
    billing.save()
    client = login("Admin")
    for query in ("", "?to=head"):
        assert "<i>billing" not in client.get(url(billing) + query).content.decode()


def test_few_queries_do(login, billing, at_most):
    client = login("Admin")
    for query in ("", "?to=head"):
        with at_most(19):
            client.get(url(billing) + query)
