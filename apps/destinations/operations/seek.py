"""Moving a destination, on record."""

from django.db import transaction

from apps.access import audit
from apps.cursors.selectors import Place
from apps.destinations.selectors.find import get
from apps.leases.operations import seek as machine
from apps.leases.operations.seek import Sought


def seek(actor: audit.Actor, reference: str, place: Place, *, dry_run: bool = False, reason: str | None = None) -> Sought:
    """Puts it at `place`, or only says what that would do; leases in the way are stale. Raises OutOfLog, NotFound."""
    with transaction.atomic():
        destination = get(reference)
        sought = machine.seek(destination.topic_id, destination.consumer_id, place, dry_run=dry_run)
        if not dry_run:
            shown = sought.shown()
            audit.record(
                actor, "seek", "destination", destination.name, object_id=destination.uid,
                before={"at": shown["before"]}, after=machine.changes(shown), reason=reason or "",
            )  # fmt: skip
    return sought
