"""How destinations are answered. Events are joined as the text they are, never encoded again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson

from apps.destinations.selectors.cause import Cause, cause_of
from apps.destinations.selectors.readers import Reader
from apps.destinations.selectors.status import OldestLease, PartitionStatus, Status
from apps.leases.operations.acknowledge import Outcome
from apps.leases.operations.pull import Batch
from apps.leases.selectors import LeaseRow, Skipped
from core.clock import rfc3339
from core.openapi import Answer
from core.sequence import sequence, sequence_before


class CauseAnswer(Answer):
    code: str
    text: str
    since: str | None


class FilterAnswer(Answer):
    types: list[str] | None
    subject_prefix: str | None
    source_prefix: str | None


class DestinationAnswer(Answer):
    id: str
    name: str
    type: str
    topic: str
    filter: FilterAnswer | None
    start_at: Any
    window: int
    max_unsettled: int
    max_deliveries: int
    ordering: str
    retry_backoff: bool
    created_at: str
    updated_at: str
    state: str
    paused_at: str | None
    pause_reason: str | None
    resume_at: str | None
    cause: CauseAnswer


class SkippedAnswer(Answer):
    partition: int
    from_: str
    to: str


class BatchAnswer(Answer):
    lease_id: str
    generation: int
    attempt: int
    expires_at: str
    events: list[dict[str, Any]]
    skipped: list[dict[str, Any]] = []


class OutcomeAnswer(Answer):
    status: str
    committed: str | None


class ExtendedAnswer(Answer):
    expires_at: str


class LeaseAnswer(Answer):
    lease_id: str
    partition: int
    first: str
    last: str
    events: int
    generation: int
    attempt: int
    handouts: int
    worker_id: str | None
    state: str
    error: str | None
    leased_at: str
    handed_at: str
    expires_at: str


class ParkedAnswer(Answer):
    lease_id: str
    state: str
    dead_letters: int


class OldestLeaseAnswer(Answer):
    lease_id: str
    worker_id: str | None
    generation: int
    attempt: int
    state: str
    leased_at: str
    expires_at: str


class PartitionLagAnswer(Answer):
    partition: int
    oldest: str
    committed: str | None
    position: str
    head: str
    lag_events: int
    lag_seconds: float | None
    in_flight: int
    waiting: int
    oldest_lease: OldestLeaseAnswer | None
    retention_reaches_in_seconds: float | None


class LagAnswer(Answer):
    state: str
    cause: CauseAnswer
    lag_events: int
    lag_seconds: float | None
    exact: bool
    in_flight: int
    waiting: int
    dead_letters: int
    """Counted up to 1,000."""
    partitions: list[PartitionLagAnswer]
    skipped: list[dict[str, Any]]
    """What retention took unread, the latest first: partition, from, to, at."""


class ReaderAnswer(Answer):
    """committed: the last offset before the first unsettled one; of a group, before the next to read."""

    partition: int
    kind: str
    name: str
    id: str | None
    position: int
    committed: int | None
    next_offset: int
    lag: int


def reader_json(reader: Reader) -> ReaderAnswer:
    return ReaderAnswer(
        partition=reader.partition,
        kind=reader.kind,
        name=reader.name,
        id=None if reader.uid is None else str(reader.uid),
        position=reader.position,
        committed=reader.unsettled - 1 if reader.unsettled else None,
        next_offset=reader.head,
        lag=max(0, reader.head - reader.unsettled),
    )


def batch_json(batch: Batch) -> bytes:
    lease = batch.lease
    head = {
        "leaseId": str(lease.id),
        "generation": lease.generation,
        "attempt": lease.attempt,
        "expiresAt": rfc3339(lease.expires_at),
    }
    if batch.skipped:
        head["skipped"] = [
            {"partition": partition, "from": sequence(partition, first), "to": sequence(partition, last)}
            for partition, first, last in batch.skipped
        ]
    return orjson.dumps(head)[:-1] + b',"events":[' + ",".join(batch.events).encode() + b"]}"


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    return {"status": outcome.status, "committed": sequence_before(outcome.partition, outcome.unsettled)}


def cause_json(cause: Cause) -> dict[str, Any]:
    return {"code": cause.code, "text": cause.text, "since": _time(cause.since)}


def lag_json(status: Status, dead: int, skipped: Sequence[Skipped] = ()) -> dict[str, Any]:
    cause = cause_of(status)
    return {
        "state": cause.state,
        "cause": cause_json(cause),
        "lagEvents": status.lag_events,
        "lagSeconds": status.lag_seconds,
        "exact": status.exact,
        "inFlight": status.in_flight,
        "waiting": status.waiting,
        "deadLetters": dead,
        "partitions": [_partition_json(partition) for partition in status.partitions],
        "skipped": [_skipped_json(each) for each in skipped],
    }


def _skipped_json(skipped: Skipped) -> dict[str, Any]:
    ends = {"from": sequence(skipped.partition, skipped.first), "to": sequence(skipped.partition, skipped.last)}
    return {"partition": skipped.partition, **ends, "at": rfc3339(skipped.at)}


def _partition_json(partition: PartitionStatus) -> dict[str, Any]:
    number = partition.partition
    return {
        "partition": number,
        "oldest": sequence(number, partition.oldest),
        "committed": sequence_before(number, partition.unsettled),
        "position": sequence(number, partition.position),
        "head": sequence(number, partition.head),
        "lagEvents": partition.lag_events,
        "lagSeconds": partition.lag_seconds,
        "inFlight": partition.in_flight,
        "waiting": partition.waiting,
        "oldestLease": _oldest_lease_json(partition.oldest_lease),
        "retentionReachesInSeconds": partition.retention_reaches_in,
    }


def _oldest_lease_json(lease: OldestLease | None) -> dict[str, Any] | None:
    if lease is None:
        return None
    return {
        "leaseId": str(lease.id),
        "workerId": lease.worker or None,
        "generation": lease.generation,
        "attempt": lease.attempt,
        "state": lease.state,
        "leasedAt": rfc3339(lease.leased_at),
        "expiresAt": rfc3339(lease.visible_at),
    }


def lease_json(lease: LeaseRow) -> dict[str, Any]:
    return {
        "leaseId": str(lease.id),
        "partition": lease.partition,
        "first": sequence(lease.partition, lease.first_offset),
        "last": sequence(lease.partition, lease.next_offset - 1),
        "events": lease.events,
        "generation": lease.generation,
        "attempt": lease.attempt,
        "handouts": lease.handouts,
        "workerId": lease.worker or None,
        "state": lease.state,
        "error": lease.error,
        "leasedAt": rfc3339(lease.leased_at),
        "handedAt": rfc3339(lease.handed_at),
        "expiresAt": rfc3339(lease.visible_at),
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)
