"""One transaction that appends to one or more partitions of a topic: lock their rows, then decide, number and insert."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from apps.topics.load import Load, rates
from apps.topics.operations.outcomes import Written
from apps.topics.operations.quotas import over_hot_quota
from apps.topics.operations.slots import Groups, Slot, merge, number, share
from apps.topics.selectors.resolve import TopicRef
from core import notices, sql
from core.arrays import integers, smallints, texts, uuids
from core.errors import NotFound

LOCK = sql.statement(__file__, "lock_partitions")
APPEND = sql.statement(__file__, "append")

# As the members of an Item stand; sizes are sent as running totals.
_COLUMNS: dict[str, Callable[[Any], bytes]] = {
    "partition_keys": texts,
    "keys": texts,
    "key_hashes": uuids,
    "kinds": smallints,
    "sizes": integers,
    "types": texts,
    "sources": texts,
    "subjects": texts,
    "bodies": texts,
}


def write(
    topic: TopicRef, members: Sequence[Groups], patience: str | None = None, backlog: int = 0
) -> list[dict[int, Written]]:
    """What became of each member's groups. All of it is stored, or, if this raises, nothing.

    `patience` is the lock_timeout, None the connection's own. Raises NotFound for a deleted topic, and django.db errors.
    """
    slots = [merge(partition, members) for partition in sorted({partition for member in members for partition in member})]
    while not (heads := _attempt(topic, slots, patience)):
        # There were duplicates, which is rare: nothing was written, and they are left out now. Doing it in the statement
        # instead would number by window functions whatever comes: half as fast again for everybody (measured).
        pass
    loads = [_load(topic, slot, head, backlog) for slot, head in zip(slots, heads, strict=True)]
    notices.publish(f"topic:{topic.id}", sum(len(slot.fresh) for slot in slots))
    return _shares(members, slots, [head[0] for head in heads], loads)


def _attempt(topic: TopicRef, slots: Sequence[Slot], patience: str | None) -> list[tuple[int, int, int, int]]:
    """Offset, bytes, hot offset and bytes before it of each head before the write; empty when duplicates came to light."""
    partitions = smallints([slot.partition for slot in slots])
    lock = {"topic_id": topic.id, "partitions": partitions, "patience": patience}
    quotas = {"max_hot_records": topic.max_hot_records, "max_hot_bytes": topic.max_hot_bytes}
    append = {"topic_id": topic.id, "partitions": partitions, "dedup_seconds": topic.dedup_seconds, **_columns(slots)}
    _, answer = sql.run((LOCK, lock), (APPEND, {**append, **quotas}))
    *heads, duplicates, offsets, is_over = answer[0]
    if len(heads[0] or ()) != len(slots):
        raise NotFound("The topic was deleted.")
    fresh = sum(len(slot.fresh) for slot in slots)
    if duplicates:
        _note(slots, duplicates, offsets)
        if len(duplicates) < fresh:
            return []
    found: list[tuple[int, int, int, int]] = list(zip(*heads, strict=True))
    if is_over and len(duplicates) < fresh:
        raise over_hot_quota(topic, *_most(slots, found))
    return found


def _note(slots: Sequence[Slot], duplicates: Sequence[int], offsets: Sequence[int]) -> None:
    """What was there before: the n-th of all that were sent, and its offset."""
    sent = [(slot, index) for slot in slots for index in slot.fresh]
    for n, offset in zip(duplicates, offsets, strict=True):
        slot, index = sent[n - 1]
        slot.known[index] = offset


def _most(slots: Sequence[Slot], heads: Sequence[tuple[int, int, int, int]]) -> tuple[int, int]:
    """The most records and the most bytes that a partition would hold."""
    records = [head[0] - head[2] + len(slot.fresh) for slot, head in zip(slots, heads, strict=True)]
    sizes = [head[1] - head[3] + _bytes(slot) for slot, head in zip(slots, heads, strict=True)]
    return max(records), max(sizes)


def _bytes(slot: Slot) -> int:
    return sum(item[4] for item in slot.fresh_items)


def _columns(slots: Sequence[Slot]) -> dict[str, bytes]:
    rows = [slot.fresh_items for slot in slots]
    sizes = [[item[4] for item in row] for row in rows]
    columns = list(zip(*(item for row in rows for item in row), strict=True)) or [()] * len(_COLUMNS)
    return {
        "fresh_records": integers([len(row) for row in rows]),
        "fresh_bytes": integers(list(map(sum, sizes))),
        "slots": smallints([place for place, row in enumerate(rows, 1) for _ in row]),
        "numbers": integers([place for row in rows for place in range(len(row))]),
        "running_bytes": integers([total for row in sizes for total in accumulate(row)]),
        **{name: array(column) for (name, array), column in zip(_COLUMNS.items(), columns, strict=True) if name != "sizes"},
    }


def _load(topic: TopicRef, slot: Slot, head: tuple[int, int, int, int], backlog: int) -> Load:
    """Gives the slot its offsets; returns what the partition carries with them."""
    offset, total, hot_offset, bytes_before = head
    number(slot, offset)
    fresh = len(slot.fresh)
    rate = rates.count(topic.id, slot.partition, fresh)
    return Load(offset + fresh - hot_offset, total + _bytes(slot) - bytes_before, rate, backlog)


def _shares(
    members: Sequence[Groups], slots: Sequence[Slot], heads: Sequence[int], loads: Sequence[Load]
) -> list[dict[int, Written]]:
    places = {slot.partition: place for place, slot in enumerate(slots)}
    taken: Counter[int] = Counter()
    shares = []
    for member in members:
        mine = {}
        for partition, items in member.items():
            place = places[partition]
            mine[partition] = share(slots[place], taken[partition], len(items), heads[place], loads[place])
            taken[partition] += len(items)
        shares.append(mine)
    return shares
