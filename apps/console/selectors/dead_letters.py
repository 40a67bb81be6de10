"""Dead letters of destinations and dead events of queues in one list, by the error that they died of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.queues.models import Queue
from core import sql

DEAD_LETTER_GROUPS = sql.statement(__file__, "dead_letter_groups")
DEAD_EVENT_GROUPS = sql.statement(__file__, "dead_event_groups")

COUNTED = 1_000
"""A group is counted up to here."""
LOOKED_AT = 10_000
"""Dead events of queues, all queues together: their errors carry no fingerprint, it is worked out."""
QUEUES = 1_000
DESTINATION, QUEUE = "destination", "queue"
Position = tuple[int, int, str]
BEFORE_ALL: Position = (0, 0, "")


@dataclass(frozen=True)
class Group:
    kind: str
    home_id: int
    home: str
    fingerprint: str
    error: str
    number: int
    first_at: datetime
    last_at: datetime
    topic_id: int = 0
    consumer_id: int = 0

    @property
    def is_more(self) -> bool:
        return self.number >= COUNTED

    @property
    def position(self) -> Position:
        return self.topic_id, self.consumer_id, self.fingerprint


def of_destinations(after: Position, limit: int, most: int = COUNTED) -> list[Group]:
    """Each group is counted up to `most`."""
    topic_id, consumer_id, fingerprint = after
    asked = {"topic_id": topic_id, "consumer_id": consumer_id, "fingerprint": fingerprint}
    (rows,) = sql.run((DEAD_LETTER_GROUPS, {**asked, "limit": limit, "most": most}))
    return [Group(DESTINATION, *row) for row in rows]


def of_queues(queues: Sequence[Queue]) -> list[Group]:
    """Of the latest dead events of each, the latest group first."""
    names = {queue.pk: queue.name for queue in queues}
    most = min(COUNTED, max(50, LOOKED_AT // max(1, len(names))))
    (rows,) = sql.run((DEAD_EVENT_GROUPS, {"queues": list(names), "most": most}))
    found = [
        Group(QUEUE, number, names[number], print_, error or "no error given", *rest)
        for number, print_, error, *rest in rows
    ]
    return sorted(found, key=lambda group: group.last_at, reverse=True)
