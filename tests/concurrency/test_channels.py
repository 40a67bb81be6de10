"""Publishers side by side: sequences without a gap, in the order of commits, and nobody waiting in a circle."""

import contextlib
import importlib
import os
import random
import threading
from collections.abc import Callable
from functools import partial

import pytest
from django.apps import apps
from django.db import transaction
from msgspec import Raw

from apps.channels.operations import forget
from apps.channels.operations.publish import Item, Published, Target, publish, publish_each
from apps.channels.selectors.reading import read, snapshot
from tests.concurrency.sessions import at_once, in_background, waiting_for_a_lock
from tests.patience import until

pytestmark = pytest.mark.django_db(transaction=True)

PUBLISHERS = 8
# Every publish a commit of its own: 10,000 at full scale.
PUBLISHES = int(1_000 * float(os.environ.get("TOWPATH_TEST_SCALE", "1")))


@pytest.fixture(autouse=True)
def kinds(transactional_db: None) -> None:
    importlib.import_module("apps.channels.migrations.0002_hot").make_kinds(apps, None)


def side_by_side(work: Callable[[int], None]) -> None:
    assert at_once(*(partial(work, number) for number in range(PUBLISHERS))) == [None] * PUBLISHERS


def all_events(channel: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    while True:
        page, _ = read(channel, found[-1][0] if found else 0, 1000)
        found += [(event.sequence, event.id) for event in page.events]
        if not page.events:
            assert page.last == len(found)
            return found


def test_eight_publishers_to_one_and_to_many_channels_leave_no_gap_and_never_deadlock():
    """Channels are made on the way, some by several publishers at once, and named in any order; one in four is a batch."""
    done: list[Published] = []

    def work(number: int) -> None:
        chance = random.Random(number)
        for turn in range(PUBLISHES // PUBLISHERS):
            names = [f"job:{chance.randrange(25)}-{turn // 100}" for _ in range(chance.choice((1, 1, 2, 5, 20)))]
            if chance.random() < 0.25:
                items = [Item(name, f"{number}-{turn}-{place}", "x", "null") for place, name in enumerate(names)]
                positions = publish_each(items)
                done.extend(Published(item.id, [at]) for item, at in zip(items, positions, strict=True))
            else:
                done.append(publish([Target(name) for name in dict.fromkeys(names)], "x", data=str(number)))

    side_by_side(work)
    told: dict[str, dict[int, str]] = {}
    for published in done:
        for position in published.positions:
            assert told.setdefault(position.channel, {}).setdefault(position.sequence, published.id) == published.id
    for channel, positions in told.items():
        assert all_events(channel) == sorted(positions.items())
        assert list(sorted(positions)) == list(range(1, len(positions) + 1))


def test_the_same_id_from_many_at_once_is_one_event():
    positions: list[int] = []

    def work(number: int) -> None:
        for turn in range(20):
            positions.append(publish([Target("job:same")], "x", id=f"e{turn}").positions[0].sequence)

    side_by_side(work)
    assert sorted(set(positions)) == list(range(1, 21))
    assert [event for _, event in all_events("job:same")] == [f"e{turn}" for turn in range(20)]


def test_a_reader_never_sees_a_sequence_before_an_earlier_one():
    seen: list[list[int]] = []
    over = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            cursor = 0
            while not over.is_set():
                page, _ = read("job:watched", cursor, 1000)
                got = [event.sequence for event in page.events]
                assert got == list(range(cursor + 1, cursor + 1 + len(got)))
                cursor = got[-1] if got else cursor
                seen.append(got)
        else:
            for _ in range(40):
                publish([Target("job:watched")], "x")
            if number == PUBLISHERS - 1:
                over.set()

    side_by_side(work)
    assert any(seen)


def test_a_snapshot_is_of_one_instant():
    """Each event carries its own sequence into the document: the two may never differ."""

    def work(number: int) -> None:
        for _ in range(40):
            if number % 2:
                publish_counted("job:instant")
            else:
                found = snapshot("job:instant")
                assert found.documents["job"] == (str(found.sequence) if found.sequence else None)

    side_by_side(work)


counting = threading.Lock()


def publish_counted(channel: str) -> None:
    """The document is the sequence that the event will get: known, since no other publishes meanwhile."""
    with counting:
        page, _ = read(channel, 0, 0)
        publish([Target(channel, {"job": Raw(str(page.last + 1).encode())})], "x")


@pytest.mark.parametrize(("outcome", "expected"), [("commit", 3), ("rollback", 2)])
def test_a_publisher_that_waits_gets_the_sequence_after_what_has_been_committed(outcome, expected):
    publish([Target("job:waited")], "x")
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(Undone), transaction.atomic():
            assert publish([Target("job:waited")], "x").positions[0].sequence == 2
            waiting = stack.enter_context(in_background(lambda: publish([Target("job:waited")], "x")))
            until(somebody_waits)
            if outcome == "rollback":
                raise Undone
        assert waiting.result().positions[0].sequence == expected
    assert len(all_events("job:waited")) == expected


class Undone(Exception):
    pass


def somebody_waits() -> bool:
    """Asked by another: within a transaction the answer would stay what it was."""
    with in_background(waiting_for_a_lock) as asking:
        return asking.result()


def test_retention_beside_publishers_forgets_only_what_is_old():
    def work(number: int) -> None:
        for _ in range(30):
            if number == 0:
                forget.forget_events()
            else:
                publish([Target("job:kept")], "x")

    side_by_side(work)
    assert len(all_events("job:kept")) == 30 * (PUBLISHERS - 1)
