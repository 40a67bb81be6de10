"""Where a topic's log begins and ends, and what stands in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from apps.topics.cold.cache import SegmentRef
from apps.topics.cold.segment import LogRow
from apps.topics.load import Load, rates
from apps.topics.models import Topic
from apps.topics.operations.line import backlog
from apps.topics.selectors import cold
from apps.topics.selectors.resolve import TopicRef, fresh_topic
from core import sql
from core.errors import CursorExpired, InvalidParameter, NotFound, Unavailable

BOUNDS = sql.statement(__file__, "bounds")
READ = sql.statement(__file__, "read")

MAX_PAGE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    partition: int
    oldest_offset: int
    hot_offset: int
    next_offset: int
    hot_bytes: int
    replayable_since: datetime | None
    """When the oldest readable event was appended; None while there is none."""


@dataclass(frozen=True, slots=True)
class Page:
    """Contiguous from the asked offset."""

    partition: int
    events: Sequence[LogRow]
    head: int


def topic_row(text: str) -> Topic:
    """The topic of that name or uid. Raises NotFound."""
    topic = Topic.objects.filter(id=fresh_topic(text).id).first()
    if topic is None:
        raise NotFound("There is no such topic.")
    return topic


def listed(names: str | None, after: str | None = None) -> QuerySet[Topic]:
    """Topics by name behind `after`, whose name matches the regular expression; all for None."""
    found = Topic.objects.order_by("name")
    if names is not None:
        found = found.filter(name__regex=names)
    return found if after is None else found.filter(name__gt=after)


def bounds(topic: TopicRef, partition: int | None = None) -> list[Bounds]:
    """Of one partition or of all, from one snapshot. Raises NotFound."""
    if partition is not None and partition >= topic.partitions:
        raise no_such_partition(topic)
    found = [Bounds(*row) for row in sql.run((BOUNDS, {"topic_id": topic.id, "partition": partition}))[0]]
    if not found:
        raise no_such_partition(topic)
    return found


def oldest_offset(topic_id: int, partition: int) -> int:
    """The first readable one. Raises NotFound."""
    rows = sql.run((BOUNDS, {"topic_id": topic_id, "partition": partition}))[0]
    if not rows:
        raise NotFound()
    return Bounds(*rows[0]).oldest_offset


def load(topic: TopicRef, partition: int | None = None) -> dict[int, Load]:
    """By partition. Raises NotFound."""
    return {
        each.partition: Load(
            each.next_offset - each.hot_offset,
            each.hot_bytes,
            rates.current(topic.id, each.partition),
            backlog(topic.id),
        )
        for each in bounds(topic, partition)
    }


def page(
    topic: TopicRef, partition: int, first: int | None, limit: int, field: str = "from", max_bytes: int = MAX_PAGE_BYTES
) -> Page:
    """Up to `limit` events and `max_bytes` from the offset `first` on (None: the oldest).

    Raises NotFound, CursorExpired below the oldest offset, InvalidParameter naming `field` beyond the head.
    """
    if partition >= topic.partitions:
        raise no_such_partition(topic)
    start = bounds(topic, partition)[0].oldest_offset if first is None else first
    wanted = {"topic_id": topic.id, "partition": partition, "first": start, "limit": limit, "max_bytes": max_bytes}
    rows = sql.run((READ, wanted))[0]
    if not rows:
        raise no_such_partition(topic)
    oldest, head, segments = rows[0][:3]
    if start < oldest:
        raise CursorExpired(f"The oldest offset kept is {oldest}.", field=field, oldestOffset=oldest)
    if start > head:
        raise InvalidParameter(f"Must be from {oldest} to {head}.", field=field, min=oldest, max=head)
    hot = [LogRow(*row[3:]) for row in rows if row[3] is not None]
    events = _across_the_seam(segments, hot, start, limit, max_bytes) if segments else hot
    if [event.offset for event in events] != list(range(start, start + len(events))) or (start < head and not events):
        raise Unavailable("The log could not be read without a hole; try again.")
    return Page(partition, events, head)


def _across_the_seam(segments: list[list[Any]], hot: list[LogRow], start: int, limit: int, max_bytes: int) -> list[LogRow]:
    """Cold events, then rows where the page reaches them."""
    events = cold.read([SegmentRef(*each) for each in segments], start, start + limit, max_bytes)
    if events and hot and events[-1].offset + 1 == hot[0].offset:
        events += hot
    return [event for event in events[:limit] if event.total_bytes - max_bytes <= events[0].total_bytes]


def no_such_partition(topic: TopicRef) -> NotFound:
    last = topic.partitions - 1
    return NotFound(f"This topic has the partitions 0 to {last}.", field="partition", min=0, max=last)
