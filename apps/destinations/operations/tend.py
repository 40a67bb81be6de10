"""What an operator does to a single lease: its worker's acknowledgement gets a clear answer afterwards."""

from uuid import UUID

from django.db import transaction

from apps.access import audit
from apps.destinations.selectors.find import get
from apps.leases.operations import acknowledge, tidy
from apps.leases.operations.park import park_by_hand
from apps.leases.selectors import LeaseRow, lease
from core.clock import rfc3339


def expire_lease(actor: audit.Actor, reference: str, lease_id: UUID, *, reason: str | None = None) -> LeaseRow:
    """The lease, redeliverable at once; the worker's acknowledgement is stale from now on. Raises NotFound."""
    with transaction.atomic():
        destination = get(reference)
        tidy.expire(destination.topic_id, destination.consumer_id, lease_id)
        audit.record(actor, "expire", "lease", destination.name, object_id=lease_id, reason=reason or "")
        return lease(destination.topic_id, destination.consumer_id, lease_id)


def extend_lease(
    actor: audit.Actor, reference: str, lease_id: UUID, visibility: int, *, reason: str | None = None
) -> LeaseRow:
    """The lease, with `visibility` seconds from now. Raises NotFound, and LeaseLost when it waits for redelivery."""
    with transaction.atomic():
        destination = get(reference)
        before = lease(destination.topic_id, destination.consumer_id, lease_id)
        acknowledge.extend(destination.topic_id, destination.consumer_id, lease_id, None, visibility)
        after = lease(destination.topic_id, destination.consumer_id, lease_id)
        ends = [{"expiresAt": rfc3339(row.visible_at)} for row in (before, after)]
        audit.record(
            actor, "extend", "lease", destination.name,
            object_id=lease_id, before=ends[0], after=ends[1], reason=reason or "",
        )  # fmt: skip
        return after


def park_lease(actor: audit.Actor, reference: str, lease_id: UUID, *, reason: str | None = None) -> int:
    """Makes dead letters of its events, so that the cursor may pass; returns how many. Raises NotFound."""
    with transaction.atomic():
        destination = get(reference)
        parked = park_by_hand(destination.topic_id, destination.consumer_id, lease_id, reason)
        audit.record(
            actor, "park", "lease", destination.name,
            object_id=lease_id, after={"deadLetters": parked.letters}, reason=reason or "",
        )  # fmt: skip
        return parked.letters
