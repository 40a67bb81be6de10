"""Heartbeat, acknowledge and give back: only the token decides, and only while its lease runs by the database's clock."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn
from uuid import UUID

from apps.queues import selectors
from apps.queues.operations.tokens import Token
from core import notices, sql
from core.errors import DomainError, LeaseLost, NotFound

LOCK_GROUP_OF = sql.statement(__file__, "lock_group_of")
LOCK_GROUPS_OF = sql.statement(__file__, "lock_groups_of")
HEARTBEAT = sql.statement(__file__, "heartbeat")
ACKNOWLEDGE = sql.statement(__file__, "acknowledge")
ACKNOWLEDGE_SEVERAL = sql.statement(__file__, "acknowledge_several")
NACK = sql.statement(__file__, "nack")


Ack = tuple[UUID | None, UUID | None]
"""The id of an event and the secret of a token; None for one that cannot be any."""


@dataclass(frozen=True)
class GivenBack:
    status: str
    scheduled_at: datetime | None
    """When it is handed out again; None for a dead one."""


def heartbeat(event: UUID, token: Token, seconds: int) -> datetime:
    """The new end of the lease. Raises LeaseLost, or NotFound for an unknown event."""
    (rows,) = sql.run((HEARTBEAT, _held(event, token) | {"seconds": seconds}))
    if not rows:
        _refuse(selectors.outcome_of(token.queue, event, token.secret))
    end: datetime = rows[0][0]
    return end


def acknowledge(event: UUID, token: Token) -> None:
    """Again with the same token: the same. Raises LeaseLost or NotFound."""
    held = _held(event, token)
    _, ((gone, released),) = sql.run((LOCK_GROUP_OF, held), (ACKNOWLEDGE, held))
    if released:
        notices.publish(f"queue:{token.queue}", released)
    if not gone:
        # A fresh look: the same call may have won between.
        before = selectors.outcome_of(token.queue, event, token.secret)
        if before.outcome != "acked":
            _refuse(before)


def acknowledge_several(queue: int, acks: Sequence[Ack]) -> list[DomainError | None]:
    """Each as `acknowledge` would, all in one statement: None for done, else what it would raise, in the order given."""
    asked = list(dict.fromkeys(acks))
    done = _remove(queue, [ack for ack in asked if ack[0] and ack[1]])
    rest = [ack for ack in asked if ack not in done]
    # A fresh look: the same call may have won between.
    before = selectors.outcomes_of(queue, rest) if rest else []
    faults = {ack: _fault(past) for ack, past in zip(rest, before, strict=True) if past.outcome != "acked"}
    return [faults.get(ack) for ack in acks]


def _remove(queue: int, acks: Sequence[Ack]) -> set[Ack]:
    if not acks:
        return set()
    ids, secrets = zip(*acks, strict=True)
    values = {"queue": queue, "ids": list(ids), "tokens": list(secrets)}
    _, rows = sql.run((LOCK_GROUPS_OF, values), (ACKNOWLEDGE_SEVERAL, values))
    if rows and rows[0][2]:
        notices.publish(f"queue:{queue}", rows[0][2])
    return {(event, secret) for event, secret, _ in rows}


def nack(event: UUID, token: Token, error: str | None = None, delay: int | None = None) -> GivenBack:
    """`delay` seconds, or exponential with jitter. Again with the same token: the same. Raises LeaseLost or NotFound."""
    held = _held(event, token)
    # Jitter from here: a volatile random() in the statement is refused by a distributed PostgreSQL.
    values = held | {"error": error, "delay": delay, "jitter": random.uniform(0.5, 1.0)}
    _, rows = sql.run((LOCK_GROUP_OF, held), (NACK, values))
    if rows:
        notices.publish(f"queue:{token.queue}")
        return GivenBack(*rows[0])
    before = selectors.outcome_of(token.queue, event, token.secret)
    if before.outcome not in ("waiting", "dead"):
        _refuse(before)
    return GivenBack(before.outcome, before.scheduled_at)


def _held(event: UUID, token: Token) -> dict[str, UUID | int]:
    return {"queue": token.queue, "id": event, "token": token.secret}


def _refuse(before: selectors.Outcome) -> NoReturn:
    raise _fault(before)


def _fault(before: selectors.Outcome) -> DomainError:
    return LeaseLost() if before.known else NotFound("There is no such event.")
