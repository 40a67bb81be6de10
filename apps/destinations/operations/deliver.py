"""The worker's verbs on a durable consumer; what they promise is kept by apps.leases."""

from datetime import datetime
from uuid import UUID

from apps.destinations.errors import NotADurableConsumer
from apps.destinations.operations.sight import sight
from apps.destinations.selectors.find import Found, forget_found
from apps.leases.operations import acknowledge as machine
from apps.leases.operations.acknowledge import Failure, Outcome
from apps.leases.operations.pull import Batch, Nothing
from apps.leases.operations.pull import pull as lease_batch
from core.errors import NotFound


def pull(found: Found, *, limit: int, visibility: int, worker: str) -> Batch | Nothing:
    """The next batch for this worker ("" for all who give no name); `visibility` in seconds.

    Raises NotADurableConsumer, DestinationPaused, WindowFull, NotFound.
    """
    _require_durable(found)
    sight(found.topic_id, found.consumer_id, worker)
    try:
        return lease_batch(found.topic_id, found.consumer_id, limit=limit, visibility=visibility, worker=worker)
    except NotFound:
        forget_found()  # deleted, and perhaps made again under this name: the next call looks it up
        raise


def acknowledge(found: Found, lease_id: UUID, generation: int, failure: Failure | None = None) -> Outcome:
    """Raises NotADurableConsumer, NotFound (an unknown lease), InvalidField (positions that are not in it)."""
    _require_durable(found)
    return machine.acknowledge(found.topic_id, found.consumer_id, lease_id, generation, failure)


def extend(found: Found, lease_id: UUID, generation: int, visibility: int) -> datetime:
    """The lease's new end. Raises NotADurableConsumer, LeaseLost."""
    _require_durable(found)
    return machine.extend(found.topic_id, found.consumer_id, lease_id, generation, visibility)


def _require_durable(found: Found) -> None:
    if not found.is_durable_consumer:
        raise NotADurableConsumer()
