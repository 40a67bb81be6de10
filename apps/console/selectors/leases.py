"""Who holds what, over all destinations in one list."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from core import sql

LEASES = sql.statement(__file__, "leases")

Position = tuple[int, int, UUID]
BEFORE_ALL: Position = (0, 0, UUID(int=0))


@dataclass(frozen=True)
class HeldLease:
    topic_id: int
    consumer_id: int
    id: UUID
    partition: int
    first_offset: int
    next_offset: int
    events: int
    generation: int
    attempt: int
    worker: str
    error: str | None
    leased_at: datetime
    visible_at: datetime
    state: str
    destination_id: int | None
    destination: str | None
    """None: just deleted."""

    @property
    def position(self) -> Position:
        return self.topic_id, self.consumer_id, self.id


def leases(after: Position, limit: int, worker: str | None = None) -> list[HeldLease]:
    topic_id, consumer_id, lease_id = after
    asked = {"topic_id": topic_id, "consumer_id": consumer_id, "id": lease_id, "limit": limit, "worker": worker}
    (rows,) = sql.run((LEASES, asked))
    return [HeldLease(*row) for row in rows]
