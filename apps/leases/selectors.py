"""What is leased, what is settled, and when something falls due again. Nothing here is counted anywhere: it is looked up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.topics.cloudevents.answer import cloud_event
from apps.topics.selectors.cold import rows_at
from apps.topics.selectors.resolve import topic_of_id
from core import sql
from core.errors import NotFound

READ_LEASED = sql.statement(__file__, "read_leased")
COMMITTED = sql.statement(__file__, "committed")
SKIPPED = sql.statement(__file__, "skipped")
DUE = sql.statement(__file__, "due")
LEASES = sql.statement(__file__, "leases")
REDRIVEN_BODY = sql.statement(__file__, "redriven_body")


@dataclass(frozen=True)
class LeaseRow:
    id: UUID
    partition: int
    first_offset: int
    next_offset: int
    events: int
    generation: int
    attempt: int
    handouts: int
    worker: str
    error: str | None
    leased_at: datetime
    handed_at: datetime
    visible_at: datetime
    """The end of a held lease, or from when on a waiting one is handed out again."""
    state: str
    """leased | expired (out of time, nobody else has it yet) | waiting (given back)"""


def events(topic_id: int, partition: int, first_offset: int, next_offset: int, picked: list[int] | None = None) -> list[str]:
    """CloudEvents as JSON of the offsets first … next - 1, or of those `picked` relative to the first."""
    wanted = {
        "topic_id": topic_id,
        "partition": partition,
        "place": f"{partition:03d}.",
        "first_offset": first_offset,
        "next_offset": next_offset,
        "picked": picked,
    }
    hot = [text for (text,) in sql.run((READ_LEASED, wanted))[0]]
    offsets = range(first_offset, next_offset) if picked is None else [first_offset + step for step in picked]
    return hot if len(hot) == len(offsets) else _cold(topic_id, partition, offsets[: len(offsets) - len(hot)]) + hot


def _cold(topic_id: int, partition: int, offsets: Sequence[int]) -> list[str]:
    """Those of the offsets that are in cold storage: what spilled after the rows were looked for was among the rows."""
    topic = topic_of_id(topic_id)
    return [cloud_event(topic, partition, row).decode() for row in rows_at(topic_id, partition, offsets)]


def redriven(topic_id: int, consumer_id: int, lease_id: UUID) -> list[str]:
    """The one event of a redriven lease, from its copy."""
    lease = {"topic_id": topic_id, "consumer_id": consumer_id, "lease_id": lease_id}
    return [text for (text,) in sql.run((REDRIVEN_BODY, lease))[0]]


def first_unsettled(topic_id: int, consumer_id: int) -> dict[int, int]:
    """By partition; committed is one less. In one snapshot."""
    return dict(sql.run((COMMITTED, {"topic_id": topic_id, "consumer_id": consumer_id}))[0])


@dataclass(frozen=True)
class Skipped:
    """Events first … last that retention took before they were settled."""

    partition: int
    first: int
    last: int
    at: datetime


def skipped(topic_id: int, consumer_id: int, limit: int = 20) -> list[Skipped]:
    """The latest first."""
    wanted = {"topic_id": topic_id, "consumer_id": consumer_id, "limit": limit}
    return [Skipped(*row) for row in sql.run((SKIPPED, wanted))[0]]


def due_in(topic_id: int, consumer_id: int) -> float | None:
    """Seconds until something becomes pullable by the passing of time alone; None when nothing does."""
    rows = sql.run((DUE, {"topic_id": topic_id, "consumer_id": consumer_id}))[0]
    seconds: float | None = rows[0][0] if rows else None
    return seconds


def leases(topic_id: int, consumer_id: int, *, limit: int, after: UUID | None = None) -> list[LeaseRow]:
    """Up to `limit` leases in force whose id comes after, in the order in which they were first handed out."""
    wanted = {"topic_id": topic_id, "consumer_id": consumer_id, "limit": limit, "after": after}
    return [LeaseRow(*row) for row in sql.run((LEASES, wanted))[0]]


def lease(topic_id: int, consumer_id: int, lease_id: UUID) -> LeaseRow:
    """One lease in force. Raises NotFound for one that is settled or unknown."""
    found = leases(topic_id, consumer_id, limit=1, after=UUID(int=max(0, lease_id.int - 1)))
    if not found or found[0].id != lease_id:
        raise NotFound()
    return found[0]
