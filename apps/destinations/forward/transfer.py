"""To a queue or a channel: a batch is leased, transferred and acknowledged in one transaction, so a kill undoes all of it.

While it lasts it is the only one at this destination: events arrive in the order of their partition.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DataError, IntegrityError, transaction

from apps.destinations.forward import to_channel, to_queue
from apps.destinations.forward.fill import Unfit
from apps.destinations.forward.line import Held, Line, hold, release
from apps.destinations.models import Type
from apps.destinations.operations.sight import sight
from apps.leases.errors import DestinationPaused, WindowFull
from apps.leases.operations.acknowledge import Failure, acknowledge
from apps.leases.operations.park import park
from apps.leases.operations.pull import Batch, Nothing, pull
from apps.leases.selectors import due_in
from core import sql
from core.errors import Busy, Invalid, NotFound, TooLarge
from core.exclusive import alone
from core.ids import uuid7
from core.sequence import sequence

IS_COLD = sql.statement(__file__, "is_cold")

LIMIT = 500
COLD_LIMIT = 100
CAREFUL_LIMIT = 20
VISIBILITY = 60
TAKEN_SECONDS = 0.2
HELD_SECONDS = 1.0
POLL_SECONDS = 10.0
MAX_DELAY_SECONDS = 300

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sink:
    ready: Callable[[Line], None]
    """Raises Held while the target cannot take anything; asked before events are leased."""
    prepare: Callable[[Line, str, str], Any]
    """What to send for an event, of its identity and text. Raises Unfit when it can never be transferred."""
    send: Callable[[Line, Sequence[Any]], None]
    """What was prepared, in order. Raises Held."""


SINKS = {
    Type.QUEUE.value: Sink(to_queue.ready, to_queue.prepare, to_queue.send),
    Type.CHANNEL.value: Sink(to_channel.ready, to_channel.prepare, to_channel.send),
}


def transfer(line: Line) -> float:
    """Moves one batch; returns the seconds after which to look again, 0 when there may be more."""
    sight(line.topic_id, line.consumer_id, "forwarder")
    try:
        if sql.run((IS_COLD, {"topic": line.topic_id, "consumer": line.consumer_id}))[0][0][0]:
            return _move_cold(line, SINKS[line.type])
        with alone(f"forward:{line.topic_id}:{line.consumer_id}") as is_alone:
            return _move(line, SINKS[line.type]) if is_alone else TAKEN_SECONDS
    except Held as why:
        hold(line, why)
        return HELD_SECONDS
    except (DestinationPaused, WindowFull) as refusal:
        return refusal.retry_after or HELD_SECONDS
    except NotFound:
        return POLL_SECONDS  # deleted: the next roster leaves it out
    except (Unfit, Invalid, TooLarge, DataError, IntegrityError) as error:
        logger.warning("forward.carefully", extra={"destination": line.name, "reason": str(error).split("\n")[0]})
        return _move_carefully(line, SINKS[line.type])


def _move(line: Line, sink: Sink) -> float:
    sink.ready(line)
    batch = pull(line.topic_id, line.consumer_id, limit=LIMIT, visibility=VISIBILITY, worker="forwarder")
    if isinstance(batch, Nothing):
        release(line)
        return 0 if batch.more else _until_due(line)
    _send(line, sink, batch)
    release(line)
    return 0


def _move_cold(line: Line, sink: Sink) -> float:
    """The object store is read before anything is locked: hence a lease like any worker's, settled with the transfer.

    Should this process die in between, the lease runs out, and later batches may overtake it.
    """
    sink.ready(line)
    worker = f"forwarder {uuid7()}"
    batch = pull(line.topic_id, line.consumer_id, limit=COLD_LIMIT, visibility=VISIBILITY, worker=worker)
    if isinstance(batch, Nothing):
        return 0 if batch.more else _until_due(line)
    try:
        with transaction.atomic():
            _send(line, sink, batch)
    except Held as why:
        lease = batch.lease
        acknowledge(line.topic_id, line.consumer_id, lease.id, lease.generation, Failure(why.text, HELD_SECONDS))
        raise
    release(line)
    return 0


def _send(line: Line, sink: Sink, batch: Batch) -> None:
    unfit: dict[int, str] = {}
    prepared = []
    for offset, text in _events(batch):
        try:
            prepared.append(sink.prepare(line, _key(line, batch, offset), text))
        except Unfit as why:
            unfit[offset] = str(why)
    sink.send(line, prepared)
    if not _settle(line, batch, unfit):
        raise Busy("The lease was taken away while its events were transferred.")


def _settle(line: Line, batch: Batch, unfit: dict[int, str]) -> bool:
    """False when the lease is no longer ours: then the transfer must not stand."""
    lease = batch.lease
    if not unfit:
        return acknowledge(line.topic_id, line.consumer_id, lease.id, lease.generation).status == "committed"
    positions = [(lease.partition, offset) for offset in unfit]
    parked = park(line.topic_id, line.consumer_id, lease.id, generation=lease.generation, errors=unfit, positions=positions)
    return parked is not None


def _move_carefully(line: Line, sink: Sink) -> float:
    """After an error nobody expected: one by one, so that only what fails is counted, delayed and in the end parked."""
    worker = f"forwarder {uuid7()}"
    batch = pull(line.topic_id, line.consumer_id, limit=CAREFUL_LIMIT, visibility=VISIBILITY, worker=worker)
    if isinstance(batch, Nothing):
        return HELD_SECONDS
    failed: dict[int, str] = {}
    for offset, text in _events(batch):
        try:
            with transaction.atomic():
                sink.send(line, [sink.prepare(line, _key(line, batch, offset), text)])
        except (Held, Unfit, Invalid, TooLarge, DataError, IntegrityError) as error:
            failed[offset] = str(error).split("\n")[0]
    lease = batch.lease
    failure = Failure(
        error=next(iter(failed.values()), None),
        delay=min(2.0**lease.attempt, MAX_DELAY_SECONDS),
        positions=[(lease.partition, offset) for offset in failed],
    )
    acknowledge(line.topic_id, line.consumer_id, lease.id, lease.generation, failure if failed else None)
    return 0


def _events(batch: Batch) -> list[tuple[int, str]]:
    return list(zip(batch.lease.offsets, batch.events, strict=True))


def _key(line: Line, batch: Batch, offset: int) -> str:
    return line.key(sequence(batch.lease.partition, offset))


def _until_due(line: Line) -> float:
    due = due_in(line.topic_id, line.consumer_id)
    return POLL_SECONDS if due is None else min(POLL_SECONDS, max(due, 0.01))
