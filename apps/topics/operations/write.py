"""One transaction that appends to one or more partitions of a topic: lock their rows, then decide, number and insert."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from apps.topics.load import Load, rates
from apps.topics.operations.outcomes import Written
from apps.topics.operations.slots import Groups, Slot, merge, number, share
from apps.topics.selectors.resolve import TopicRef
from core import notices, sql
from core.arrays import integers, smallints, texts
from core.errors import NotFound

LOCK = sql.statement(__file__, "lock_partitions")
APPEND = sql.statement(__file__, "append")

# As the members of an Item stand.
_COLUMNS: dict[str, Callable[[Any], bytes]] = {
    "partition_keys": texts,
    "keys": texts,
    "key_hashes": texts,
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
    lock = {"topic_id": topic.id, "partitions": smallints([slot.partition for slot in slots]), "patience": patience}
    _, answer = sql.run((LOCK, lock), (APPEND, _parameters(topic, slots)))
    if not answer or len(answer[0][0] or ()) != len(slots):
        raise NotFound("The topic was deleted.")
    heads, loads = _numbered(topic, slots, answer[0], backlog)
    notices.publish(f"topic:{topic.id}", sum(len(slot.items) for slot in slots))
    return _shares(members, slots, heads, loads)


def _parameters(topic: TopicRef, slots: Sequence[Slot]) -> dict[str, Any]:
    columns = zip(*(item for slot in slots for item in slot.items), strict=True)
    return {
        "topic_id": topic.id,
        "partitions": smallints([slot.partition for slot in slots]),
        "dedup_seconds": topic.dedup_seconds,
        "slots": smallints([place for place, slot in enumerate(slots, 1) for _ in slot.items]),
        **{name: array(column) for (name, array), column in zip(_COLUMNS.items(), columns, strict=True)},
    }


def _numbered(topic: TopicRef, slots: Sequence[Slot], row: sql.Row, backlog: int) -> tuple[list[int], list[Load]]:
    """Gives the slots their offsets from what the statement answered; returns the heads before it and the loads after."""
    heads, totals, hot_offsets, bytes_before, duplicates, positions = row
    known = dict(zip(duplicates, positions, strict=True))
    loads = []
    starts = accumulate((len(slot.items) for slot in slots), initial=1)
    for slot, start, head, total, hot, before in zip(slots, starts, heads, totals, hot_offsets, bytes_before, strict=False):
        number(slot, head, {n - start: known[n] for n in known if start <= n < start + len(slot.items)})
        fresh = [item for index, item in enumerate(slot.items) if index not in slot.known]
        rate = rates.count(topic.id, slot.partition, len(fresh))
        loads.append(Load(head + len(fresh) - hot, total + sum(item[4] for item in fresh) - before, rate, backlog))
    return heads, loads


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
