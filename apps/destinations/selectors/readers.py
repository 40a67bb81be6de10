"""Everybody who reads a topic: destinations and consumer groups, partition by partition."""

from dataclasses import dataclass
from uuid import UUID

from apps.topics.selectors.log import no_such_partition
from apps.topics.selectors.resolve import TopicRef
from core import sql

CURSORS = sql.statement(__file__, "cursors")


@dataclass(frozen=True)
class Reader:
    partition: int
    kind: str
    """destination | group"""
    name: str
    uid: UUID | None
    """Of a destination."""
    position: int
    unsettled: int
    oldest: int
    head: int


def readers(topic: TopicRef, partition: int | None = None) -> list[Reader]:
    """Raises NotFound for a partition that the topic has not."""
    if partition is not None and partition >= topic.partitions:
        raise no_such_partition(topic)
    return [Reader(*row) for row in sql.run((CURSORS, {"topic_id": topic.id, "partition": partition}))[0]]
