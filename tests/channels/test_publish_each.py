"""Many events at once: consecutive sequences in the order given, an id once, the same few statements however many."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.channels.models import Channel as Row
from apps.channels.operations.delete import delete
from apps.channels.operations.publish import Item, Target, publish, publish_each
from apps.channels.selectors.reading import read
from core import sql
from core.errors import NotFound
from tests.factories import unique

pytestmark = pytest.mark.django_db


def items(channel: str, *ids: str) -> list[Item]:
    return [Item(channel, each, "x", f'"{each}"') for each in ids]


def told(channel: str) -> list[tuple[int, str, str | None]]:
    return [(event.sequence, event.id, event.data) for event in read(channel, 0, 1000)[0].events]


def places(channel: str, *events: Item) -> list[tuple[int, bool]]:
    return [(at.sequence, at.duplicate) for at in publish_each(events) if at.channel == channel]


def test_nothing_to_publish_is_nothing():
    assert publish_each([]) == []


def test_events_of_a_channel_get_consecutive_sequences_in_their_order():
    a, b = unique("job:b"), unique("job:a")
    publish([Target(a)], "x", id="first")
    mixed = [*items(a, "1"), *items(b, "1"), *items(a, "2", "3"), *items(b, "2")]
    assert [(at.channel, at.sequence, at.duplicate) for at in publish_each(mixed)] == [
        (a, 2, False), (b, 1, False), (a, 3, False), (a, 4, False), (b, 2, False),
    ]  # fmt: skip
    assert told(a)[1:] == [(2, "1", '"1"'), (3, "2", '"2"'), (4, "3", '"3"')]
    assert told(b) == [(1, "1", '"1"'), (2, "2", '"2"')]


def test_a_known_id_answers_its_first_position_also_within_the_batch():
    name = unique("job:k")
    assert places(name, *items(name, "a", "b", "a")) == [(1, False), (2, False), (1, True)]
    assert places(name, *items(name, "b", "c", "c", "a", "d")) == [(2, True), (3, False), (3, True), (1, True), (4, False)]
    assert [at for at, _, _ in told(name)] == [1, 2, 3, 4]
    assert publish([Target(name)], "x").positions[0].sequence == 5


def test_nothing_new_changes_nothing():
    name = unique("job:n")
    publish_each(items(name, "a"))
    before = Row.objects.filter(name=name).values().get()
    assert places(name, *items(name, "a")) == [(1, True)]
    assert Row.objects.filter(name=name).values().get() == before


def test_bytes_are_counted_as_by_single_publishes():
    """What retention by bytes goes by."""
    single, many = unique("job:s"), unique("job:m")
    texts = ['"a"', '"bcd"', '"äöü"']
    for number, text in enumerate(texts):
        publish([Target(single)], "x", text, id=str(number))
    publish_each([Item(many, str(number), "x", text) for number, text in enumerate(texts)])
    totals = "SELECT sequence, total_bytes FROM channel_event WHERE channel_id = %s ORDER BY 1"
    found = []
    for name in (single, many):
        row = Row.objects.get(name=name)
        with connection.cursor() as cursor:
            cursor.execute(totals, [row.id])
            found.append((row.total_bytes, cursor.fetchall()))
    assert found[0] == found[1]


def test_a_deleted_channel_goes_on_after_the_sequence_its_end_took():
    name = unique("job:d")
    publish_each(items(name, "a", "b"))
    delete(None, name)
    assert places(name, *items(name, "a")) == [(4, False)]
    assert Row.objects.get(name=name).deleted_at is None


def test_an_unknown_kind_stores_nothing_of_the_others():
    name = unique("job:u")
    with pytest.raises(NotFound):
        publish_each([*items(name, "a"), *items("nokind:x", "b")])
    assert not Row.objects.filter(name=name).exists()


def test_five_hundred_events_to_a_hundred_channels_take_as_many_statements_as_one(monkeypatch):
    calls: list[int] = []
    run = sql.run
    monkeypatch.setattr(sql, "run", lambda *steps: (calls.append(len(steps)), run(*steps))[1])
    names = [unique("job:h") for _ in range(100)]
    for batch in ([*items(names[0], "x")], [Item(names[at % 100], f"y{at}", "x", "1") for at in range(500)]):
        calls.clear()
        with CaptureQueriesContext(connection) as others:
            publish_each(batch)
        assert (sum(calls), len(others)) == (3, 0)
    assert [read(name, 0, 0)[0].last for name in names] == [6] + [5] * 99


def test_numbers_of_channels_are_drawn_for_new_ones_only():
    """They are 32 bits: a draw for each publish would use them up."""
    old = unique("job:o")
    publish_each(items(old, "a"))
    for turn in range(5):
        publish_each([*items(old, f"b{turn}"), *items(unique("job:w"), "c")])
    newest = unique("job:z")
    publish_each(items(newest, "a"))
    assert Row.objects.get(name=newest).id - Row.objects.get(name=old).id == 6
