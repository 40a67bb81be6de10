"""Committing: a group's position moves forward only, and only by who holds the partition where somebody does."""

from apps.cursors.errors import CursorRewind, Fenced
from apps.cursors.operations.groups import group_for_use
from apps.topics.selectors.log import no_such_partition
from apps.topics.selectors.resolve import TopicRef
from core import sql
from core.errors import InvalidField, NotFound

LOCK_CURSOR = sql.statement(__file__, "lock_cursor")
COMMIT = sql.statement(__file__, "commit")


def commit(topic: TopicRef, partition: int, group: str, offset: int, token: int | None = None) -> None:
    """`offset` is the next to read. Raises Fenced, CursorRewind, InvalidField beyond the head, NotFound."""
    if partition >= topic.partitions:
        raise no_such_partition(topic)
    place = {"topic_id": topic.id, "name": group, "partition": partition}
    wanted = {**place, "offset": offset, "token": token}
    rows = sql.run((LOCK_CURSOR, place), (COMMIT, wanted))[1]
    if not rows:
        group_for_use(topic, group)
        rows = sql.run((LOCK_CURSOR, place), (COMMIT, wanted))[1]
    if not rows:
        raise NotFound()
    _judge(partition, offset, *rows[0])


def _judge(partition: int, offset: int, fenced: bool, position: int, head: int) -> None:
    if fenced:
        raise Fenced(partition=partition)
    if offset > head:
        raise InvalidField(
            f"The next offset of partition {partition} is {head}: there is nothing to commit beyond it.",
            field="offset", min=position, max=head, partition=partition, position=position, nextOffset=head,
        )  # fmt: skip
    if offset < position:
        raise CursorRewind(partition=partition, position=position)
