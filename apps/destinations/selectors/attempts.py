"""What was sent to a webhook lately, and what came of it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from core import sql

ATTEMPTS = sql.statement(__file__, "attempts")


@dataclass(frozen=True)
class AttemptRow:
    at: datetime
    id: UUID
    kind: str
    webhook_id: str
    events: int
    attempt: int
    status: int | None
    error: str | None
    milliseconds: int
    answer: str


def attempts(topic_id: int, consumer_id: int, *, limit: int, before: UUID | None = None) -> list[AttemptRow]:
    """The newest first."""
    wanted = {"topic": topic_id, "consumer": consumer_id, "limit": limit, "before": before}
    return [AttemptRow(*row) for row in sql.run((ATTEMPTS, wanted))[0]]
