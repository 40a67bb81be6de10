"""What consumer groups read, and where they stand. Reading moves nothing and makes no group."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import CharField, F, QuerySet, Value
from django.db.models.functions import Concat

from apps.cursors.models import Group
from apps.cursors.selectors.turns import turns
from apps.topics.cloudevents.answer import record_page
from apps.topics.selectors.log import MAX_PAGE_BYTES, Page, bounds, no_such_partition, page
from apps.topics.selectors.resolve import TopicRef
from core import sql
from core.errors import DomainError

GROUP_POSITIONS = sql.statement(__file__, "group_positions")
GROUP_STANDING = sql.statement(__file__, "group_standing")
ROOM = MAX_PAGE_BYTES - 64 * 1024  # for the pages of all partitions: the rest is for what stands around them


@dataclass(frozen=True)
class Place:
    partition: int
    position: int
    oldest: int
    head: int
    holder: str | None
    fencing_token: int | None
    held_until: datetime | None

    @property
    def lag(self) -> int:
        return self.head - self.position


def consume(topic: TopicRef, partition: int, group: str, limit: int) -> bytes:
    """The page at the group's position, as JSON. Raises NotFound, CursorExpired, Unavailable."""
    if partition >= topic.partitions:
        raise no_such_partition(topic)
    start = _positions(topic, group, partition).get(partition)
    return record_page(topic, page(topic, partition, start and start[0], limit, "group"))


def consume_all(topic: TopicRef, group: str, limit: int) -> dict[int, bytes | DomainError | None]:
    """The same of every partition, 4 MiB in all; None: had no room, ask again.

    First whom this process has served longest ago, so that all have their turn also without a commit; then by the commits.
    """
    known = _positions(topic, group)
    limits = {each.partition: each for each in bounds(topic)}
    starts = {number: known[number][0] if number in known else each.oldest_offset for number, each in limits.items()}
    served = turns.of(topic.id, group, limits)
    room = ROOM
    found: dict[int, bytes | DomainError | None] = {}
    for number in sorted(limits, key=lambda each: (served[each], known[each][1] if each in known else 0.0, each)):
        if starts[number] == limits[number].next_offset:
            found[number] = record_page(topic, Page(number, [], starts[number]))
            continue
        found[number] = shown = _page_within(topic, number, starts[number], limit, room)
        room = 0 if shown is None else room - len(shown) if isinstance(shown, bytes) else room
    turns.served(topic.id, group, (number for number, shown in found.items() if shown is not None))
    return dict(sorted(found.items()))


def _positions(topic: TopicRef, group: str, partition: int | None = None) -> dict[int, tuple[int, float]]:
    """Next offset and time of the last commit, by partition; none for a group that is none yet."""
    rows = sql.run((GROUP_POSITIONS, {"topic_id": topic.id, "name": group, "partition": partition}))[0]
    return {number: (position, served_at.timestamp() if served_at else 0.0) for number, position, served_at in rows}


def _page_within(topic: TopicRef, partition: int, first: int, limit: int, room: int) -> bytes | DomainError | None:
    """A first record is always read: where it alone is over what is left, it waits for an answer of its own."""
    if room <= 0:
        return None
    try:
        shown = record_page(topic, page(topic, partition, first, limit, "group", max_bytes=room), room)
    except DomainError as error:
        return error
    return shown if len(shown) <= room or room == ROOM else None


def listed(topic: TopicRef, names: str | None) -> QuerySet[Group]:
    """Groups whose `topic/group` matches the regular expression; all for None."""
    found = Group.objects.filter(topic_id=topic.id)
    if names is None:
        return found
    full = Concat(Value(f"{topic.name}/"), F("name"), output_field=CharField())
    return found.annotate(full=full).filter(full__regex=names)


def standing(groups: Sequence[Group]) -> dict[int, list[Place]]:
    """By consumer number, one place a partition: one query for groups of any number of topics."""
    found: dict[int, list[Place]] = {group.consumer_id: [] for group in groups}
    asked = {"topics": [group.topic_id for group in groups], "consumers": list(found)}
    for consumer, *row in sql.run((GROUP_STANDING, asked))[0]:
        found[consumer].append(Place(*row))
    return found
