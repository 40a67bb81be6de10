"""Dead letters of a destination, of any type: redrive and discard, each with its audit record."""

from collections.abc import Callable
from uuid import UUID

from django.db import transaction

from apps.access import audit
from apps.destinations.models import Destination
from apps.destinations.selectors.find import get
from apps.leases.models import DeadLetter
from apps.leases.operations import dead_letters as machine
from core.errors import NotFound


def redrive(actor: audit.Actor, reference: str, letter: UUID, *, reason: str | None = None) -> DeadLetter:
    """Handed out to this destination again as attempt 1. Raises NotFound, AlreadyRedriven."""
    with transaction.atomic():
        destination, found = _found(reference, letter)
        _act(actor, "redrive", machine.redrive, destination, found, reason)
        found.refresh_from_db()
    return found


def discard(actor: audit.Actor, reference: str, letter: UUID, *, reason: str | None = None) -> DeadLetter:
    """Removes it for good; returns what it was. Raises NotFound, AlreadyRedriven."""
    with transaction.atomic():
        destination, found = _found(reference, letter)
        _act(actor, "discard", machine.discard, destination, found, reason)
    return found


def _found(reference: str, letter: UUID) -> tuple[Destination, DeadLetter]:
    destination = get(reference)
    letters = DeadLetter.objects.filter(topic_id=destination.topic_id, consumer_id=destination.consumer_id, id=letter)
    found = letters.first()
    if found is None:
        raise NotFound("There is no such dead letter.")
    return destination, found


def _act(
    actor: audit.Actor,
    verb: str,
    change: Callable[[int, int, UUID], None],
    destination: Destination,
    found: DeadLetter,
    reason: str | None,
) -> None:
    change(destination.topic_id, destination.consumer_id, found.id)
    before = {"partition": found.partition, "offset": found.offset, "error": found.error}
    audit.record(actor, verb, "dead-letter", destination.name, object_id=found.id, before=before, reason=reason or "")
