"""Claiming: what is due is made ready first, then the first ready events are leased, in one round trip."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from apps.queues.operations.sweep import park_exhausted
from apps.queues.operations.tokens import Token
from apps.queues.selectors import QueueRow
from core import notices, sql

PROMOTE = sql.statement(__file__, "promote")
CLAIM = sql.statement(__file__, "claim")
MOST_ROUNDS = 100


@dataclass(frozen=True)
class Claim:
    id: UUID
    schedule_id: UUID | None
    payload: str
    scheduled_at: datetime
    attempt_count: int
    token: Token
    expires_at: datetime


def claim(queue: QueueRow, *, seconds: int | None = None, worker: str | None = None, limit: int = 1) -> list[Claim]:
    """Up to `limit` events for `seconds` (the queue's default when None); none while the queue is paused.

    What had all its attempts before their number was lowered is given up on the way, and the next ones are looked for.
    """
    found: list[Claim] = []
    for _ in range(MOST_ROUNDS):
        claims, spent = _claim_once(queue, seconds, worker, limit - len(found))
        found += claims
        if not spent or len(found) == limit:
            return found
    notices.publish(queue.notice_key)  # so many of them are in the way: whoever waits goes on with it
    return found


def _claim_once(queue: QueueRow, seconds: int | None, worker: str | None, limit: int) -> tuple[list[Claim], int]:
    """What is leased, and how many were in the way that have no attempts left."""
    values = {
        "queue": queue.id,
        "tokens": [uuid4() for _ in range(limit)],
        "seconds": seconds or queue.default_lease_seconds,
        "worker": worker,
    }
    ((promoted, exhausted),), rows = sql.run((PROMOTE, values), (CLAIM, values))
    held = sorted(row[1:] for row in rows if row[0])
    spent = len(rows) - len(held)
    if exhausted or spent:
        park_exhausted(queue.id)
    if promoted > len(rows):
        # Others who looked meanwhile skipped these while they were locked here.
        notices.publish(queue.notice_key, promoted - len(rows))
    return [_claim(queue.id, row) for row in held], spent


def _claim(queue: int, row: sql.Row) -> Claim:
    _, event, schedule_id, payload, scheduled_at, attempts, secret, due_at = row
    return Claim(event, schedule_id, payload, scheduled_at, attempts, Token(queue, secret), due_at)
