"""Who of a group reads which partition: spread fairly, given up by the holder itself, taken over when its time is over."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.cursors.models import Consumer, Kind
from apps.cursors.operations.consumers import LOCK_CONSUMER
from apps.cursors.operations.groups import group_for_use
from apps.topics.selectors.resolve import TopicRef
from core import sql
from core.errors import NotFound

SEE_MEMBER = sql.statement(__file__, "see_member")
MEMBERS = sql.statement(__file__, "members")
HOLDERS = sql.statement(__file__, "holders")
ASSIGN = sql.statement(__file__, "assign")
LEAVE = sql.statement(__file__, "leave")


@dataclass(frozen=True)
class Assignment:
    expires_at: datetime
    tokens: Mapping[int, int]
    """Fencing token by partition held."""


def assign(topic: TopicRef, group: str, member: str, ttl: int) -> Assignment:
    """What the member holds from now on for `ttl` seconds, when it should have asked again. Raises NotFound (the topic)."""
    consumer = {"topic_id": topic.id, "consumer_id": group_for_use(topic, group)}
    asked = {**consumer, "member": member, "ttl": ttl}
    with transaction.atomic():
        locked, seen, members, holders = sql.run(
            (LOCK_CONSUMER, consumer), (SEE_MEMBER, asked), (MEMBERS, consumer), (HOLDERS, consumer)
        )
        if not locked:
            raise NotFound("The group was deleted.")
        mine = share(dict(holders), [name for (name,) in members], member)
        rows = sql.run((ASSIGN, {**asked, "mine": mine}))[0]
    return Assignment(seen[0][0], {partition: token for partition, token, held in sorted(rows) if held})


def leave(topic: TopicRef, group: str, member: str) -> None:
    """What it held is free at once; unknown members and groups have nothing to leave."""
    row = Consumer.objects.filter(topic_id=topic.id, kind=Kind.GROUP, name=group).first()
    if row is not None:
        consumer = {"topic_id": topic.id, "consumer_id": row.consumer_id}
        sql.run((LOCK_CONSUMER, consumer), (LEAVE, {**consumer, "member": member}))


def share(holders: Mapping[int, str | None], members: Sequence[str], member: str) -> list[int]:
    """The partitions `member` is to hold: what it has, less what is over its share, and what is free up to it.

    Never what somebody else holds: that one gives it up when it comes by, not in the middle of a page. Pure.
    """
    held = Counter(holder for holder in holders.values() if holder is not None)
    # Who holds most keeps the remainder: so the fewest partitions change hands.
    ranked = sorted(members, key=lambda name: (-held[name], name))
    each, over = divmod(len(holders), len(ranked))
    target = each + (ranked.index(member) < over)
    kept = sorted(partition for partition, holder in holders.items() if holder == member)[:target]
    free = sorted(partition for partition, holder in holders.items() if holder is None)
    return kept + free[: target - len(kept)]
