"""Giving back: one outcome for each generation, the same answer to the same call, stale to any other."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.leases.operations.park import PARKED, park
from core import notices, sql
from core.errors import Busy, InvalidField, LeaseLost, NotFound

ACKNOWLEDGE = sql.statement(__file__, "acknowledge")
FAIL = sql.statement(__file__, "fail")
RECALL = sql.statement(__file__, "recall")
EXTEND = sql.statement(__file__, "extend")

MAX_ERROR = 2_000
RACES = 3
"""How often an answer is looked for again when another call changes the lease in between."""


@dataclass(frozen=True)
class Outcome:
    status: str
    """committed | requeued | parked | stale"""
    partition: int
    unsettled: int
    """The first offset of the partition that is not settled."""

    @property
    def committed(self) -> int | None:
        return self.unsettled - 1 if self.unsettled > 0 else None


@dataclass(frozen=True)
class Failure:
    error: str | None = None
    delay: float | None = None
    """Seconds; None: at once, or as the destination's retry_backoff says."""
    positions: Sequence[tuple[int, int]] | None = None
    """(partition, offset) of the events to be redelivered; None: all of the lease."""


def acknowledge(topic_id: int, consumer_id: int, lease_id: UUID, generation: int, failure: Failure | None = None) -> Outcome:
    """Settles the lease, or with `failure` gives it back. Works while paused and on an expired lease nobody else has yet.

    Raises NotFound for a lease unknown or forgotten (2 days), InvalidField for failed positions that are not in it.
    """
    lease = {"topic_id": topic_id, "consumer_id": consumer_id, "lease_id": lease_id, "generation": generation}
    for _ in range(RACES):
        outcome = _settle(lease) if failure is None else _give_back(lease, failure)
        outcome = outcome or _recall(lease, "ok" if failure is None else "failed")
        if outcome is not None:
            return outcome
    raise Busy()


def extend(topic_id: int, consumer_id: int, lease_id: UUID, generation: int | None, visibility: int) -> datetime:
    """The new end, now + `visibility` seconds, also when that is sooner; None as generation is an operator's "whichever".

    Raises LeaseLost when the generation is over: settled, failed, handed out again, or never known.
    """
    lease = {"topic_id": topic_id, "consumer_id": consumer_id, "lease_id": lease_id, "generation": generation}
    rows = sql.run((EXTEND, {**lease, "visibility": visibility}))[0]
    if not rows:
        raise LeaseLost()
    until: datetime = rows[0][0]
    return until


def _settle(lease: dict[str, Any]) -> Outcome | None:
    for partition, unsettled, frees_partition in sql.run((ACKNOWLEDGE, lease))[0]:
        if frees_partition:
            notices.publish(f"consumer:{lease['consumer_id']}")
        return Outcome("committed", partition, unsettled)
    return None


def _give_back(lease: dict[str, Any], failure: Failure) -> Outcome | None:
    partitions = {partition for partition, _ in failure.positions or ()}
    offsets = None if failure.positions is None else sorted({offset for _, offset in failure.positions})
    how = {
        "error": _text(failure.error),
        "delay": failure.delay,
        "jitter": random.uniform(0.5, 1.0),
        "failed_offsets": offsets,
        # More than one partition, or none, is in no lease.
        "failed_partition": partitions.pop() if len(partitions) == 1 else None,
    }
    for partition, unsettled, was_returned, is_spent in sql.run((FAIL, {**lease, **how}))[0]:
        if is_spent:
            parked = park(**lease, outcome=PARKED, error=_text(failure.error), positions=failure.positions)
            return None if parked is None else Outcome("parked", parked.partition, parked.unsettled)
        if not was_returned:
            raise InvalidField("Each must be a sequence of an event in this lease.", field="failedSequences")
        notices.publish(f"consumer:{lease['consumer_id']}")
        return Outcome("requeued", partition, unsettled)
    return None


def _text(error: str | None) -> str | None:
    return None if error is None else error.replace("\x00", "\ufffd")[:MAX_ERROR]


def _recall(lease: dict[str, Any], said: str) -> Outcome | None:
    """The answer for a generation that is over; None when it is open after all: another call came in between."""
    rows = sql.run((RECALL, lease))[0]
    if not rows or rows[0][-1] is None:  # no lease, or no longer a position: the consumer is gone
        raise NotFound()
    partition, latest, outcome, is_open, unsettled = rows[0]
    if is_open:
        return None
    answers = {"ok": {"ok": "committed"}, "failed": {"failed": "requeued", PARKED: "parked"}}[said]
    # A parked lease has no later generation, so that only an outcome of this very one is looked for.
    known = latest == lease["generation"] and outcome in answers
    return Outcome(answers[outcome] if known else "stale", partition, unsettled)
