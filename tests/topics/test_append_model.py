"""Appends against a small model: whatever is sent, in whatever company, the log is the one the model has."""

from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.topics.hashing import partition_for
from apps.topics.items import Item
from apps.topics.load import Load
from apps.topics.operations.append import append
from apps.topics.operations.create import create_topic
from apps.topics.operations.outcomes import Written
from apps.topics.operations.slots import merge, number, share
from apps.topics.selectors import log
from apps.topics.selectors.resolve import topic
from tests.factories import unique

PARTITIONS = 3
EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

keys = st.none() | st.sampled_from("uvwxyz")
sends = st.lists(st.tuples(st.sampled_from(["a", "b", "", "é"]), keys), min_size=1, max_size=12)


def item(partition_key: str, key: str | None, body: str, size: int = 7) -> Item:
    hashed = None if key is None else f"{ord(key):032x}"
    return (partition_key, key, hashed, 0, size, None, None, None, body)


class Model:
    """Partitions as lists, and where each key stood first."""

    def __init__(self) -> None:
        self.logs: dict[int, list[str]] = {partition: [] for partition in range(PARTITIONS)}
        self.firsts: dict[tuple[int, str], int] = {}

    def append(self, partition: int, key: str | None, body: str) -> tuple[int, bool]:
        if key is not None and (partition, key) in self.firsts:
            return self.firsts[partition, key], True
        offset = len(self.logs[partition])
        self.logs[partition].append(body)
        if key is not None:
            self.firsts[partition, key] = offset
        return offset, False


@pytest.mark.django_db
@EXAMPLES
@given(requests=st.lists(sends, min_size=1, max_size=6))
def test_every_answer_and_the_log_are_the_models(requests: list[Any]) -> None:
    name, model = create_topic(None, unique("model"), PARTITIONS).name, Model()
    for turn, request in enumerate(requests):
        items = [item(pk, key, f"{turn}.{index}") for index, (pk, key) in enumerate(request)]
        places = [partition_for(each[0], PARTITIONS) for each in items]
        expected = [(place, *model.append(place, each[1], each[8])) for place, each in zip(places, items, strict=True)]
        appended = append(name, items)
        assert answered(appended) == expected
        for partition, outcome in appended.outcomes.items():
            assert isinstance(outcome, Written)
            assert outcome.next_offset == len(model.logs[partition])
            assert outcome.load.hot_records == len(model.logs[partition])
            assert outcome.load.hot_bytes == 7 * len(model.logs[partition])
    for partition, bodies in model.logs.items():
        assert [event.body for event in log.page(topic(name), partition, 0, 1000).events] == bodies
    assert running_totals(topic(name).id) == {
        partition: len(bodies) * 7 for partition, bodies in model.logs.items() if bodies
    }


def answered(appended: Any) -> list[tuple[int, int, bool]]:
    taken = dict.fromkeys(appended.outcomes, 0)
    found = []
    for partition in appended.partitions:
        outcome, index = appended.outcomes[partition], taken[partition]
        found.append((partition, outcome.offsets[index], index in outcome.duplicates))
        taken[partition] += 1
    return found


def running_totals(topic_id: int) -> dict[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT partition, max(total_bytes) FROM event WHERE topic_id = %s GROUP BY 1", [topic_id])
        return dict(cursor.fetchall())


@EXAMPLES
@given(members=st.lists(st.lists(keys, max_size=6), min_size=1, max_size=5), known=st.sets(st.sampled_from("uvwxyz")))
def test_merged_members_get_what_they_would_have_got_one_after_the_other(members: list[Any], known: set[str]) -> None:
    model = Model()
    for key in sorted(known):
        model.append(0, key, "before")
    head = len(model.logs[0])
    groups = [{0: [item("a", key, "") for key in member]} if member else {} for member in members]
    slot = merge(0, groups)
    slot.known = {index: model.firsts[0, str(each[1])] for index, each in enumerate(slot.items) if each[1] in known}
    number(slot, head)
    start = 0
    for member in members:
        expected = [model.append(0, key, "") for key in member]
        found = share(slot, start, len(member), head, Load(0, 0, 0.0, 0))
        assert [(offset, index in found.duplicates) for index, offset in enumerate(found.offsets)] == expected
        assert found.next_offset == len(model.logs[0])
        start += len(member)
