"""Giving up: beyond its last allowed hand-out each event of a batch becomes a dead letter, and the cursor may pass."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from apps.cursors.models import Consumer
from apps.leases import selectors
from core import notices, sql
from core.errors import InvalidField, NotFound, Unavailable
from core.ids import uuid7
from core.sequence import parse_sequence

PARKABLE = sql.statement(__file__, "parkable")
PARK = sql.statement(__file__, "park")
SPENT = sql.statement(__file__, "spent")

PARKED = "parked"
"""What settled remembers when the worker's own `failed` was the last: the same call again gets the same answer."""
GIVEN_UP = "given_up"
"""When somebody else parked it: the worker's acknowledgement is stale."""
SPENT_BATCH = 1_000
NOT_IN_TIME = "Not acknowledged in time."

_VARYING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|\d+", re.IGNORECASE)


@dataclass(frozen=True)
class Parked:
    partition: int
    unsettled: int
    letters: int


@dataclass(frozen=True)
class _Lease:
    partition: int
    first_offset: int
    next_offset: int
    picked: list[int] | None
    redriven: bool
    generation: int
    handouts: int
    error: str | None

    @property
    def offsets(self) -> Sequence[int]:
        if self.picked is None:
            return range(self.first_offset, self.next_offset)
        return [self.first_offset + step for step in self.picked]


def park(
    topic_id: int,
    consumer_id: int,
    lease_id: UUID,
    *,
    generation: int | None = None,
    outcome: str = GIVEN_UP,
    error: str | None = None,
    errors: Mapping[int, str] | None = None,
    positions: Sequence[tuple[int, int]] | None = None,
    only_over: bool = False,
) -> Parked | None:
    """Makes dead letters of a lease, or of those `positions` and settles the rest; None when somebody else was faster.

    A `generation` must be open still; without one a lease that waits is parked too. `only_over`: not one that is held.
    `errors` say by offset what `error` says for all.
    Raises InvalidField for positions that are not in it.
    """
    lease = {"topic_id": topic_id, "consumer_id": consumer_id, "lease_id": lease_id}
    rows = sql.run((PARKABLE, lease))[0]
    if not rows:
        return None
    found = _Lease(*rows[0])
    if generation not in (None, found.generation):
        return None
    letters = _letters(lease, found, positions)
    why = error or found.error or NOT_IN_TIME
    reasons = [(errors or {}).get(offset, why) for offset in letters]
    how = {**_columns(letters, reasons), **_how(found, generation, outcome), "only_over": only_over}
    parked = sql.run((PARK, {**lease, **how}))[0]
    if not parked:
        return None
    notices.publish(f"consumer:{consumer_id}")
    partition, unsettled = parked[0]
    return Parked(partition, unsettled, len(letters))


def park_by_hand(topic_id: int, consumer_id: int, lease_id: UUID, reason: str | None) -> Parked:
    """An operator gives a lease up. Raises NotFound when it is settled already."""
    error = f"Parked by an operator: {reason}" if reason else "Parked by an operator."
    parked = park(topic_id, consumer_id, lease_id, error=error)
    if parked is None:
        raise NotFound()
    return parked


def park_spent() -> int:
    """Parks what ran out after its last allowed hand-out, so that nobody has to pull for it; returns how many leases."""
    topics = Consumer.objects.filter(max_deliveries__gt=0).values_list("topic_id", flat=True).distinct()
    return sum(_park_spent_in(topic_id) for topic_id in topics)


def _park_spent_in(topic_id: int) -> int:
    spent = sql.run((SPENT, {"topic_id": topic_id, "limit": SPENT_BATCH}))[0]
    return sum(park(topic_id, consumer_id, lease_id, only_over=True) is not None for consumer_id, lease_id in spent)


def fingerprint(error: str) -> str:
    """The same for errors that differ in numbers and ids only."""
    line = _VARYING.sub("#", error.strip().split("\n")[0]).lower()[:200]
    return sha256(line.encode(errors="replace")).hexdigest()[:16]


def _letters(lease: dict[str, Any], found: _Lease, positions: Sequence[tuple[int, int]] | None) -> dict[int, str]:
    """Bodies by offset. What retention took already is no letter: there is nothing left to deliver."""
    if positions is not None and not set(positions) <= {(found.partition, offset) for offset in found.offsets}:
        raise InvalidField("Each must be a sequence of an event in this lease.", field="failedSequences")
    texts = (
        selectors.redriven(**lease)
        if found.redriven
        else selectors.events(lease["topic_id"], found.partition, found.first_offset, found.next_offset, found.picked)
    )
    # Each body ends with `,"sequence":"003.…"}`.
    bodies = {parse_sequence(text[-26:-2], "sequence")[1]: text for text in texts}
    if len(bodies) < len(found.offsets) and max(bodies, default=found.first_offset) < max(found.offsets):
        raise Unavailable("The events of this lease cannot be read right now; try again.")
    wanted = bodies if positions is None else {offset for _, offset in positions}
    return {offset: text for offset, text in bodies.items() if offset in wanted}


def _columns(letters: dict[int, str], reasons: list[str]) -> dict[str, Any]:
    return {
        "ids": sorted(uuid7() for _ in letters),
        "offsets": list(letters),
        "bodies": list(letters.values()),
        "errors": reasons,
        "fingerprints": [fingerprint(reason) for reason in reasons],
    }


def _how(found: _Lease, generation: int | None, outcome: str) -> dict[str, Any]:
    return {
        "generation": found.generation,
        "handouts": found.handouts,
        "only_open": generation is not None,
        "outcome": outcome,
    }
