"""What became of what was handed out: dead letters, the last acknowledgement, and how many workers came for it lately."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from core import sql
from core.words import count

OUTCOMES = sql.statement(__file__, "outcomes")

COUNTED = 1_000
"""Dead letters and workers of a destination are counted up to here."""
LATEST = 20


@dataclass(frozen=True)
class Outcomes:
    dead: int = 0
    acknowledged_at: datetime | None = None
    """None: none of the latest leases. One that is older than they may have been acknowledged later."""
    workers: int = 0
    """That came by in the last quarter of an hour."""

    @property
    def dead_said(self) -> str:
        return _up_to_bound(self.dead)

    @property
    def workers_said(self) -> str:
        return f"{_up_to_bound(self.workers)} {'worker' if self.workers == 1 else 'workers'}"


def outcomes(consumers: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Outcomes]:
    """By (topic id, consumer id)."""
    asked = list(consumers)
    topics, ids = [topic for topic, _ in asked], [consumer for _, consumer in asked]
    (rows,) = sql.run((OUTCOMES, {"topics": topics, "consumers": ids, "most": COUNTED, "latest": LATEST}))
    return {(topic, consumer): Outcomes(*rest) for topic, consumer, *rest in rows}


def _up_to_bound(number: int) -> str:
    return f"{count(number)}{'+' if number >= COUNTED else ''}"
