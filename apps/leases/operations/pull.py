"""Handing out: a worker gets its own lease, a redelivery or new events, decided under the consumer's lock."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.cursors import operations as cursors
from apps.leases import selectors
from apps.leases.errors import DestinationPaused, WindowFull
from apps.leases.operations.park import park
from apps.leases.operations.retain import catch_up
from apps.topics.selectors.cold import read_from
from core import sql
from core.errors import NotFound, Unavailable
from core.ids import uuid7

MAX_BYTES = 4 * 1024 * 1024 - 1024  # of events; the rest is for what stands around them
SLICE = 5_000
SCAN_SECONDS = 0.3
RETRY_PAUSED_SECONDS = RETRY_FULL_SECONDS = 5.0
RETRY_AT_MOST_SECONDS = 60.0

LOCK_OWN = sql.statement(__file__, "lock_own")
LEASE_NEW = sql.statement(__file__, "lease_new")
LEASE_AGAIN = sql.statement(__file__, "lease_again")


@dataclass(frozen=True)
class Lease:
    """What a worker was given. Its events are offsets first_offset … next_offset - 1, or only those in `picked`."""

    id: UUID
    partition: int
    first_offset: int
    next_offset: int
    picked: list[int] | None
    """Relative to first_offset; None: all of them."""
    generation: int
    attempt: int
    expires_at: datetime
    origin: str
    """own | redelivery | redriven | new"""
    has_skipped: bool
    """Retention passed the position and nobody has been told yet."""

    @property
    def offsets(self) -> Sequence[int]:
        if self.picked is None:
            return range(self.first_offset, self.next_offset)
        return [self.first_offset + step for step in self.picked]


@dataclass(frozen=True)
class Batch:
    """A lease with its events as JSON, in offset order."""

    lease: Lease
    events: list[str]
    skipped: list[tuple[int, int, int]]
    """(partition, from, to) of what retention took unread since the last batch."""


@dataclass(frozen=True)
class Nothing:
    """No lease: caught up, or (`more`) the filter took nothing from what could be looked at in time."""

    more: bool = False
    is_cold_at: tuple[int, int, int] | None = None
    """(partition, position, how many) of events that are to be read from cold storage first."""


@dataclass(frozen=True)
class Cold:
    """Columns of events that are no longer rows, for one partition, read before the lock; `totals` run over the partition.

    The first may be the event before the position: the size of an event is the difference to the one before it.
    """

    partition: int
    offsets: list[int]
    totals: list[int]
    kinds: list[int]
    types: list[str | None]
    sources: list[str | None]
    subjects: list[str | None]
    keys: list[str]


NO_COLD: Mapping[str, Any] = {
    f"cold_{column}": None for column in ("partition", "offsets", "totals", "kinds", "types", "sources", "subjects", "keys")
}


def pull(topic_id: int, consumer_id: int, *, limit: int = 20, visibility: int = 60, worker: str = "") -> Batch | Nothing:
    """The next lease for this worker with its events, which are read after the lock is gone: the lease names them."""
    lease = lease_next(topic_id, consumer_id, limit=limit, visibility=visibility, worker=worker)
    if isinstance(lease, Nothing):
        return lease
    events = _events(topic_id, consumer_id, lease)
    if len(events) != len(lease.offsets):
        raise Unavailable("The events of this lease cannot be read right now; try again.")
    return Batch(lease, events, cursors.tell_skipped(topic_id, consumer_id) if lease.has_skipped else [])


def _events(topic_id: int, consumer_id: int, lease: Lease) -> list[str]:
    if lease.origin == "redriven":
        return selectors.redriven(topic_id, consumer_id, lease.id)
    return selectors.events(topic_id, lease.partition, lease.first_offset, lease.next_offset, lease.picked)


def lease_next(
    topic_id: int, consumer_id: int, *, limit: int, visibility: int, worker: str, cold: Cold | None = None
) -> Lease | Nothing:
    """The next lease for this worker; `visibility` in seconds, `worker` "" for all who give no name.

    Raises DestinationPaused, WindowFull, NotFound (the consumer is gone).
    """
    wanted: dict[str, Any] = {
        "topic_id": topic_id,
        "consumer_id": consumer_id,
        "limit": limit,
        "visibility": visibility,
        "worker": worker,
        "slice": SLICE,
        "max_bytes": MAX_BYTES,
        "max_event_bytes": settings.TOWPATH["MAX_EVENT_BYTES"],
        **(NO_COLD if cold is None else {f"cold_{column}": value for column, value in vars(cold).items()}),
    }
    until = time.monotonic() + SCAN_SECONDS
    read: tuple[int, int, int] | None = None
    while True:
        answer = _decide(wanted)
        if isinstance(answer, Lease) or (answer.is_cold_at is None and (not answer.more or time.monotonic() >= until)):
            return answer
        if answer.is_cold_at is not None:
            if answer.is_cold_at == read and not catch_up(topic_id, read[0]):
                raise Unavailable("The next events cannot be read right now; try again.")
            read = answer.is_cold_at
            wanted |= _cold_columns(topic_id, *read)


def _cold_columns(topic_id: int, partition: int, position: int, count: int) -> dict[str, Any]:
    """Read between two attempts, when no lock is held; the statement takes them only if the position is still this."""
    # The one before comes along for its size, unless it is gone.
    rows = read_from(topic_id, partition, max(0, position - 1), count + 1) or read_from(topic_id, partition, position, count)
    cold = Cold(
        partition,
        [row.offset for row in rows],
        [row.total_bytes for row in rows],
        [row.kind for row in rows],
        [row.type for row in rows],
        [row.source for row in rows],
        [row.subject for row in rows],
        [row.partition_key for row in rows],
    )
    return {f"cold_{column}": value for column, value in vars(cold).items()}


def _decide(wanted: Mapping[str, Any]) -> Lease | Nothing:
    """New work unless there is older; new work all the same when the older is just being settled by somebody else."""
    for pass_over_due in (False, True):
        state, lease = _lease_new(wanted, pass_over_due)
        if lease is None and state.has_older:
            lease = _lease_again(wanted)
        if lease is not None:
            return lease
        if not state.has_older:
            break
    return _none(state)


STATE_COLUMNS = 14


@dataclass(frozen=True)
class _State:
    """What the deciding statement saw."""

    paused: bool
    resume_in: float | None
    has_older: bool
    """The worker has a lease already, or one waits for redelivery and there is room for it."""
    leased: int
    unsettled: int
    window: int
    max_unsettled: int
    next_end_in: float | None
    behind: bool
    moved: bool
    has_skipped: bool
    at_partition: int | None
    """The partition that is behind, where it stands, and how many events the statement looks at."""
    at_position: int | None
    slice: int | None


def _lease_new(wanted: Mapping[str, Any], pass_over_due: bool) -> tuple[_State, Lease | None]:
    """Without anything due there is no lease that an extend in flight could make this worker's own again."""
    rows = _under_lock(LEASE_NEW, {**wanted, "pass_over_due": pass_over_due}, wait_for_own=pass_over_due)
    if not rows:
        raise NotFound()
    state, lease = _State(*rows[0][:STATE_COLUMNS]), rows[0][STATE_COLUMNS:]
    return state, _lease("new", lease, state.has_skipped) if lease[0] is not None else None


def _lease_again(wanted: Mapping[str, Any]) -> Lease | None:
    """None when what was older has just been settled or is about to be. What has no hand-out left is parked on the way."""
    while rows := _under_lock(LEASE_AGAIN, wanted, wait_for_own=True):
        has_skipped, origin, *lease = rows[0]
        if origin != "spent":
            return _lease(origin, lease, has_skipped)
        park(wanted["topic_id"], wanted["consumer_id"], lease[0])
    return None


def _under_lock(decision: sql.Statement, wanted: Mapping[str, Any], wait_for_own: bool) -> list[sql.Row]:
    """The consumer's lock, and what this worker itself has in flight, are waited for by statements of their own."""
    consumer = {"topic_id": wanted["topic_id"], "consumer_id": wanted["consumer_id"]}
    waits = [(cursors.LOCK_CONSUMER, consumer)]
    if wait_for_own:
        waits.append((LOCK_OWN, {**consumer, "worker": wanted["worker"]}))
    return sql.run(*waits, (decision, {**wanted, "lease_id": uuid7()}))[-1]


def _lease(origin: str, row: Sequence[Any], has_skipped: bool) -> Lease:
    identifier, partition, first, after, picked, generation, attempt, expires_at = row
    whole = picked is None or len(picked) == after - first
    return Lease(
        identifier, partition, first, after, None if whole else picked, generation, attempt, expires_at, origin, has_skipped
    )


def _none(state: _State) -> Nothing:
    """Why nothing was handed out, in the order of the contract."""
    if state.paused:
        raise DestinationPaused(retry_after=_soon(state.resume_in, RETRY_PAUSED_SECONDS))
    if state.leased >= state.window or state.unsettled >= state.max_unsettled:
        raise WindowFull(
            # An acknowledgement may make room at any time; the end of a lease surely will.
            retry_after=min(_soon(state.next_end_in, 1.0), RETRY_FULL_SECONDS),
            leased=state.leased,
            waiting=state.unsettled - state.leased,
            window=state.window,
            maxUnsettled=state.max_unsettled,
        )
    if state.at_partition is not None and state.at_position is not None and not state.moved:
        # A page that does not start at the position would skip events for good.
        return Nothing(is_cold_at=(state.at_partition, state.at_position, state.slice or 1))
    return Nothing(more=state.moved)


def _soon(seconds: float | None, otherwise: float) -> float:
    return otherwise if seconds is None else min(max(seconds, 1.0), RETRY_AT_MOST_SECONDS)
