"""What to send to a webhook next: nothing while its breaker is open or it asked for time, one event while it fails."""

from dataclasses import dataclass

from apps.destinations.forward.line import Line
from apps.destinations.operations.sight import sight
from apps.destinations.webhooks.message import Message, of_batch, of_event
from apps.leases.errors import DestinationPaused, WindowFull
from apps.leases.operations.pull import Batch, Nothing, pull
from apps.leases.selectors import due_in
from core import sql
from core.errors import NotFound
from core.sequence import sequence

PUSH_GATE = sql.statement(__file__, "push_gate")
PUSH_PROBE = sql.statement(__file__, "push_probe")

OPENS_AFTER = 5
"""Failures in a row: from then on single probes go, ever less often."""
EVENTS_A_LEASE = 10
EVENTS_A_BATCH = 100
POLL_SECONDS = 10.0
PROBE_TAKEN_SECONDS = 1.0
MARGIN_SECONDS = 20
MOST_VISIBILITY = 600


@dataclass(frozen=True)
class Work:
    batch: Batch
    secrets: list[str]
    failures: int
    """In a row, before this."""
    messages: list[tuple[Message, list[int]]]
    """With the offsets of their events."""


def next_work(line: Line, worker: str) -> Work | float:
    """The next lease as requests, or the seconds after which to look again."""
    sight(line.topic_id, line.consumer_id, "forwarder")
    rows = sql.run((PUSH_GATE, {"destination": line.id}))[0]
    if not rows:
        return POLL_SECONDS
    failures, wait, secrets = rows[0]
    if wait > 0:
        return min(float(wait), POLL_SECONDS)
    limit = _limit(line, failures)
    seconds = line.target["timeoutSeconds"] * (1 if line.target["batch"] else limit)
    if failures >= OPENS_AFTER and not _may_probe(line, seconds + MARGIN_SECONDS):
        return PROBE_TAKEN_SECONDS
    visibility = min(MOST_VISIBILITY, seconds + MARGIN_SECONDS)
    try:
        batch = pull(line.topic_id, line.consumer_id, limit=limit, visibility=visibility, worker=worker)
    except (DestinationPaused, WindowFull) as refusal:
        return refusal.retry_after or PROBE_TAKEN_SECONDS
    except NotFound:
        return POLL_SECONDS  # deleted: the next roster leaves it out
    if isinstance(batch, Nothing):
        return 0 if batch.more else _until_due(line)
    return Work(batch, secrets, failures, _messages(line, batch))


def _limit(line: Line, failures: int) -> int:
    """One by one where order or a rate counts, and while it fails: what is not sent must not count as handed out."""
    if line.target["batch"]:
        return EVENTS_A_BATCH
    careful = failures > 0 or line.target["rate"] is not None or line.in_order
    return 1 if careful else max(1, min(EVENTS_A_LEASE, (MOST_VISIBILITY - MARGIN_SECONDS) // line.target["timeoutSeconds"]))


def _may_probe(line: Line, seconds: int) -> bool:
    return bool(sql.run((PUSH_PROBE, {"destination": line.id, "seconds": seconds}))[0])


def _messages(line: Line, batch: Batch) -> list[tuple[Message, list[int]]]:
    partition, offsets = batch.lease.partition, list(batch.lease.offsets)
    keys = [line.key(sequence(partition, offset)) for offset in offsets]
    if line.target["batch"]:
        return [(of_batch(keys[0], batch.events), offsets)]
    return [(of_event(key, text), [offset]) for key, text, offset in zip(keys, batch.events, offsets, strict=True)]


def _until_due(line: Line) -> float:
    due = due_in(line.topic_id, line.consumer_id)
    return POLL_SECONDS if due is None else min(POLL_SECONDS, max(due, 0.01))
