"""Moving a reader: its leases in the way end as superseded, so that whoever comes late with one gets an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.access import audit
from apps.cursors import operations as cursors
from apps.cursors.models import Group
from apps.cursors.selectors import Place, positions
from apps.leases import selectors
from apps.leases.operations.tidy import SUPERSEDE_BATCH
from apps.topics.selectors.resolve import TopicRef
from core import notices, sql
from core.errors import NotFound
from core.sequence import sequence

SUPERSEDE_MOVED = sql.statement(__file__, "supersede_moved")
COUNT_MOVED = sql.statement(__file__, "count_moved")
POSITIONS_NOW = sql.statement(__file__, "positions_now")
MOVE = sql.statement(__file__, "move")


@dataclass(frozen=True)
class Sought:
    """Of the partitions that move only: to seek to `before` undoes it."""

    before: Mapping[int, int]
    """First unsettled offset (of a group: the next to read) by partition."""
    after: Mapping[int, int]
    redelivered: int
    """Events handed out before that will be again."""
    leases_fenced: int

    def shown(self) -> dict[str, list[str] | int]:
        return {
            "before": [sequence(*place) for place in self.before.items()],
            "after": [sequence(*place) for place in self.after.items()],
            "redelivered": self.redelivered,
            "leasesFenced": self.leases_fenced,
        }


def seek(topic_id: int, consumer_id: int, place: Place, *, dry_run: bool = False) -> Sought:
    """Puts the consumer at `place` (partitions that sequences do not name stay), or only says what that would do.

    Raises OutOfLog naming `to`, NotFound.
    """
    if isinstance(place, datetime):
        # Looked up before the lock: the exact offset may stand in the object store.
        place = list(positions(topic_id, place, "to").items())
    consumer = {"topic_id": topic_id, "consumer_id": consumer_id}
    with transaction.atomic():
        if not sql.run((cursors.LOCK_CONSUMER, consumer))[0]:
            raise NotFound()
        sought = _plan(consumer, positions(topic_id, place, "to"))
        if not dry_run:
            _move(consumer, sought.after)
    if not dry_run:
        notices.publish(f"consumer:{consumer_id}")
    return sought


def seek_group(
    actor: audit.Actor, topic: TopicRef, name: str, place: Place, *, dry_run: bool = False, reason: str | None = None
) -> Sought:
    """The same for a consumer group, on record. Raises OutOfLog, NotFound."""
    with transaction.atomic():
        group = Group.objects.filter(topic_id=topic.id, name=name).first()
        if group is None:
            raise NotFound("There is no such group.")
        sought = seek(topic.id, group.consumer_id, place, dry_run=dry_run)
        if not dry_run:
            shown = sought.shown()
            audit.record(
                actor, "seek", "group", f"{topic.name}/{name}",
                before={"at": shown["before"]}, after=changes(shown), reason=reason or "",
            )  # fmt: skip
    return sought


def changes(shown: dict[str, list[str] | int]) -> dict[str, list[str] | int]:
    return {"at": shown["after"], "redelivered": shown["redelivered"], "leasesFenced": shown["leasesFenced"]}


def _plan(consumer: dict[str, int], after: Mapping[int, int]) -> Sought:
    unsettled = selectors.first_unsettled(consumer["topic_id"], consumer["consumer_id"])
    moved = {**consumer, "partitions": list(after)}
    now, fenced = sql.run((POSITIONS_NOW, consumer), (COUNT_MOVED, moved))
    redelivered = sum(max(0, position - after.get(partition, position)) for partition, position in now)
    return Sought({partition: unsettled[partition] for partition in after}, after, redelivered, fenced[0][0])


def _move(consumer: dict[str, int], after: Mapping[int, int]) -> None:
    moved = {**consumer, "partitions": list(after)}
    superseded = dict.fromkeys(after, 0)
    while ended := sql.run((SUPERSEDE_MOVED, {**moved, "limit": SUPERSEDE_BATCH}))[0]:
        for partition, events in ended:
            superseded[partition] += events
    sql.run((MOVE, {**moved, "positions": list(after.values()), "superseded": list(superseded.values())}))
