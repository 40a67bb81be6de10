"""Several appends to one partition as one: merged before the statement, shared out after it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from apps.topics.items import Item
from apps.topics.load import Load
from apps.topics.operations.outcomes import Written

Groups = Mapping[int, Sequence[Item]]
"""Events by partition."""


@dataclass(slots=True)
class Slot:
    """One partition of a transaction: the events of all members in order, each key once."""

    partition: int
    items: list[Item]
    firsts: list[int]
    """For each event of the members the index in `items` of the first one with its key: its own, unless it is a repeat."""
    known: dict[int, int] = field(default_factory=dict)
    """Offset by index in `items` of what turned out to be there already."""
    offsets: list[int] = field(default_factory=list)
    """Of each of `items`, once they are written."""

    @property
    def fresh(self) -> Sequence[int]:
        """Indexes of the items that, as far as is known, are to be written."""
        everything = range(len(self.items))
        return [index for index in everything if index not in self.known] if self.known else everything

    @property
    def fresh_items(self) -> Sequence[Item]:
        return [self.items[index] for index in self.fresh] if self.known else self.items

    @property
    def has_repeats(self) -> bool:
        return bool(self.known) or len(self.items) < len(self.firsts)


def merge(partition: int, members: Sequence[Groups]) -> Slot:
    everything = [item for member in members for item in member.get(partition, ())]
    hashes = [item[2] for item in everything]
    if None not in hashes and len(set(hashes)) == len(hashes):
        return Slot(partition, everything, list(range(len(everything))))
    items: list[Item] = []
    seen: dict[str, int] = {}
    firsts = []
    for item, hashed in zip(everything, hashes, strict=True):
        first = len(items) if hashed is None else seen.setdefault(hashed, len(items))
        if first == len(items):
            items.append(item)
        firsts.append(first)
    return Slot(partition, items, firsts)


def number(slot: Slot, head: int) -> None:
    """Gives each item its offset: the one it has had since before, else the next from `head` on."""
    if not slot.known:
        slot.offsets = list(range(head, head + len(slot.items)))
        return
    for index in range(len(slot.items)):
        slot.offsets.append(slot.known.get(index, head))
        head += index not in slot.known


def share(slot: Slot, start: int, count: int, head: int, load: Load) -> Written:
    """What became of the `count` events of one member, which begin at `start` of all that were merged.

    `next_offset` is where the partition would have stood with the members up to this one.
    """
    if not slot.has_repeats:
        return Written(slot.offsets[start : start + count], frozenset(), head + start + count, load)
    before = max(slot.firsts[:start], default=-1)
    offsets, duplicates = [], []
    for index, first in enumerate(slot.firsts[start : start + count]):
        offsets.append(slot.offsets[first])
        if first <= before or first in slot.known:
            duplicates.append(index)
        before = max(before, first)
    fresh = before + 1 - sum(1 for index in slot.known if index <= before)
    return Written(offsets, frozenset(duplicates), head + fresh, load)
