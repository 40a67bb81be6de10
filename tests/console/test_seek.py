"""The seek page: what would happen in each partition, the name typed, and the way back."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.access.models import Audit
from apps.cursors.models import Consumer, Group
from tests.console import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def orders(db):
    topic = world.topic(partitions=2, name="orders")
    for partition in range(2):
        world.events(topic, 100, partition=partition, age=3600)
    return topic


@pytest.fixture
def billing(orders):
    made = world.destination(orders, "billing")
    world.execute("UPDATE cursor SET position = 60 WHERE consumer_id = %s", made.consumer_id)
    return made


@pytest.fixture
def readers(orders):
    made = world.group(orders, "readers")
    world.execute("UPDATE cursor SET position = 60 WHERE consumer_id = %s", made.consumer_id)
    return Group.objects.get(consumer_id=made.consumer_id)


@pytest.fixture(params=["billing", "readers"])
def reader(request):
    """Each kind of what can be moved: 60 of 100 events of both partitions are handed out."""
    return request.getfixturevalue(request.param)


def page(reader) -> str:
    kind = "cursors/group" if isinstance(reader, Group) else "destinations/destination"
    return f"/admin/{kind}/{reader.pk}"


def url(reader) -> str:
    return f"{page(reader)}/seek/"


def name(reader) -> str:
    """What has to be typed."""
    return f"orders/{reader.name}" if isinstance(reader, Group) else reader.name


def positions(reader) -> list[int]:
    with world.connection.cursor() as cursor:
        cursor.execute("SELECT position FROM cursor WHERE consumer_id = %s ORDER BY partition", [reader.consumer_id])
        return [row[0] for row in cursor.fetchall()]


def carried(html: str) -> list[str]:
    return re.findall(r'name="at" value="([\d.]+)"', html)


def hold(reader) -> tuple[str, list[int]]:
    """Somebody has something of partition 0: what that is called, and where the reader then stands."""
    if isinstance(reader, Group):
        world.assign(Consumer.objects.get(consumer_id=reader.consumer_id), 0, "member-1")
        return "assignment", [60, 60]
    world.lease(reader, 0, 50, 10, worker="worker-7")
    return "lease", [50, 60]


def test_a_preview_says_before_and_after_and_moves_nothing(login, reader):
    held, before = hold(reader)
    html = login("Admin").get(url(reader) + "?to=oldest").content.decode()
    assert "120 events that were handed out before will be delivered again" in html
    assert f"1 {held} in the way ends:" in html
    assert carried(html) == ["000.00000000000000000000", "001.00000000000000000000"]
    rows = re.findall(r'<th scope="row">(\d)</th><td class="tp-number">(\d+)</td><td class="tp-number">(\d+)</td>', html)
    assert rows == [("0", str(before[0]), "0"), ("1", "60", "0")]
    assert positions(reader) == [60, 60] and not Audit.objects.exists()


def test_what_was_seen_is_what_happens_and_the_way_back_is_on_the_page(login, reader):
    held, before = hold(reader)
    client = login("Admin")
    places = carried(client.get(url(reader) + "?to=head").content.decode())
    world.event(reader.topic, 100)
    sent = {"confirmed": "1", "reason": "all of it is void", "name": name(reader), "at": places}
    done = client.post(url(reader), sent, follow=True).content.decode()
    assert positions(reader) == [100, 100]
    assert f"1 {held} fenced" in done and "all of it is void" in done
    entry = Audit.objects.get(verb="seek")
    assert entry.before == {"at": [f"00{number}.{offset:020d}" for number, offset in enumerate(before)]}
    assert (entry.object_name, entry.actor_name, entry.reason) == (name(reader), "admin", "all of it is void")
    assert "all of it is void" in client.get(f"{page(reader)}/change/").content.decode()
    back = re.search(r'href="(\?to=sequence[^"]+)"', done)[1].replace("&amp;", "&")
    places = carried(client.get(url(reader) + back).content.decode())
    client.post(url(reader), {**sent, "at": places, "reason": "back"})
    assert positions(reader) == before


def test_what_may_be_settled_already_is_skipped_up_to_a_number(login, billing):
    world.lease(billing, 0, 10, 10)
    client = login("Admin")
    html = client.get(url(billing) + "?to=head").content.decode()
    assert "up to 130 events that are not settled yet will be skipped" in html
    world.execute("DELETE FROM lease")
    html = client.get(url(billing) + "?to=head").content.decode()
    assert "<li>80 events that are not settled yet will be skipped" in html


def test_a_member_that_was_fenced_is_told_and_given_its_partition_anew(login, api, readers):
    path = "/v1/topics/orders"
    joined = {"memberId": "member-1", "ttlSeconds": 600}
    old = api.post(f"{path}/groups/readers/assignments", joined).json()
    client = login("Admin")
    places = carried(client.get(url(readers) + "?to=oldest").content.decode())
    sent = {"confirmed": "1", "reason": "again", "name": "orders/readers", "at": places}
    assert "2 assignments fenced" in client.post(url(readers), sent, follow=True).content.decode()
    late = {"group": "readers", "offset": 61, "fencingToken": _token(old)}
    refused = api.post(f"{path}/partitions/0/commit", late)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "FENCED")
    new = api.post(f"{path}/groups/readers/assignments", joined).json()
    assert _token(new) > _token(old)
    assert api.post(f"{path}/partitions/0/commit", {**late, "offset": 5, "fencingToken": _token(new)}).status_code == 200


def _token(answer) -> int:
    return next(each["fencingToken"] for each in answer["partitions"] if each["partition"] == 0)


def test_moves_of_a_group_that_had_the_name_before_are_not_shown(login, readers):
    client = login("Admin")
    sent = {"confirmed": "1", "reason": "of old", "name": "orders/readers", "at": ["000.00000000000000000001"]}
    assert "of old" in client.post(url(readers), sent, follow=True).content.decode()
    Group.objects.update(created_at=timezone.now() + timedelta(seconds=60))
    assert "of old" not in client.get(url(readers)).content.decode()


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
def test_a_place_that_is_none_is_refused_in_words(login, reader, query, said):
    answer = login("Admin").get(url(reader) + query)
    assert answer.status_code == 200 and said in answer.content.decode() and "<b>" not in answer.content.decode()


def test_a_time_is_the_time_of_appending_in_the_administrators_zone(login, reader):
    world.execute("UPDATE event SET appended_at = '2026-11-01T12:00:00Z' WHERE \"offset\" < 30")
    client = login("Admin")
    client.cookies["towpath_zone"] = "Europe/Berlin"
    html = client.get(url(reader) + "?to=time&time=2026-11-01T13:00:01").content.decode()
    assert carried(html) == ["000.00000000000000000030", "001.00000000000000000030"]


def test_the_name_has_to_be_typed_and_a_reason_given(login, reader):
    client = login("Admin")
    sent = {"confirmed": "1", "at": ["000.00000000000000000000"]}
    for more in ({"reason": "x", "name": name(reader)[:-1]}, {"name": name(reader)}, {"reason": "x"}):
        assert client.post(url(reader), {**sent, **more}).status_code == 200
    assert positions(reader) == [60, 60]


@pytest.mark.parametrize("at", ["000.x", "000.00000000000000000101", "007.00000000000000000000"])
def test_a_forged_place_is_refused(login, reader, at):
    sent = {"confirmed": "1", "reason": "x", "name": name(reader), "at": [at]}
    assert login("Admin").post(url(reader), sent).status_code == 400
    assert positions(reader) == [60, 60]


@pytest.mark.parametrize("role", ["Viewer", "Operator"])
def test_only_an_admin_seeks(login, reader, role):
    client = login(role)
    assert client.get(url(reader)).status_code == 403
    forged = {"confirmed": "1", "reason": "x", "name": name(reader), "at": ["000.00000000000000000000"]}
    assert client.post(url(reader), forged).status_code == 403
    assert positions(reader) == [60, 60]
    html = client.get(f"{page(reader)}/change/").content.decode()
    assert "Your role may not seek." in html and url(reader) not in html


def test_a_name_with_markup_is_escaped(login, reader):
    reader.name = "<i>billing"
    reader.save()
    if isinstance(reader, Group):
        Consumer.objects.filter(consumer_id=reader.consumer_id).update(name=reader.name)
    client = login("Admin")
    for query in ("", "?to=head"):
        html = client.get(url(reader) + query).content.decode()
        assert "<i>billing" not in html and "&lt;i&gt;billing" in html


def test_what_is_gone_is_a_404(login, reader):
    client = login("Admin")
    for path in (f"{page(reader)}999999/seek/", url(reader).replace(str(reader.pk), str(10**30))):
        assert client.get(path).status_code == 404
        assert client.post(path, {"confirmed": "1"}).status_code == 404


def test_few_queries_do(login, reader, at_most):
    client = login("Admin")
    for path in (url(reader), f"{url(reader)}?to=head", f"{page(reader)}/change/"):
        with at_most(19):
            assert client.get(path).status_code == 200
