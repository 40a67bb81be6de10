"""Changing and deleting a destination, each with its audit record."""

from typing import Any

from django.db import transaction

from apps.access import audit
from apps.cursors import operations as cursors
from apps.cursors.operations import Filter
from apps.destinations.models import Destination
from apps.destinations.operations.make import save
from apps.destinations.selectors.find import forget_found, get, locked
from apps.destinations.selectors.shown import consumer_of, settings_of
from apps.leases.operations.tidy import delete_consumer
from core import notices
from core.errors import InvalidField
from core.names import check_name

UNSETTLED_PER_WINDOW = 10
MAX_UNSETTLED = 1_000_000


def change(
    actor: audit.Actor, reference: str, *, name: str | None = None, chosen: Filter | None = None, **limits: Any
) -> Destination:
    """The changed destination. What is not given stays; a maxUnsettled of None is the default again.

    Raises NotFound, NameTaken, InvalidField.
    """
    with transaction.atomic():
        destination = _locked(reference)
        before = settings_of(destination)
        destination.name = destination.name if name is None else check_name(name)
        save(destination)
        cursors.change(destination.topic_id, destination.consumer_id, chosen=chosen, **_completed(destination, limits))
        after = settings_of(destination)
        notices.publish("destinations")
        audit.record(
            actor, "change", "destination", destination.name,
            object_id=destination.uid, before=_differing(before, after), after=_differing(after, before),
        )  # fmt: skip
    forget_found()
    return destination


def remove(actor: audit.Actor, reference: str, *, reason: str | None = None) -> None:
    """Deletes it with its position; its leases end as superseded, so that a late acknowledgement finds nothing to break."""
    with transaction.atomic():
        destination = _locked(reference)
        before = settings_of(destination)
        destination.delete()
        notices.publish("destinations")
        delete_consumer(destination.topic_id, destination.consumer_id)
        audit.record(
            actor, "delete", "destination", destination.name,
            object_id=before["id"], before=before, reason=reason or "",
        )  # fmt: skip
    forget_found()


def _locked(reference: str) -> Destination:
    """Changes to one destination take turns; a pull does not wait for this lock but for the consumer's. Raises NotFound."""
    return locked(get(reference))


def _completed(destination: Destination, limits: dict[str, Any]) -> dict[str, Any]:
    """A maxUnsettled that was never chosen follows the window. Raises InvalidField when one that was is below it."""
    if not limits.keys() & {"window_size", "max_unsettled"}:
        return limits
    consumer = consumer_of(destination)
    window = limits.get("window_size", consumer.window_size)
    follows = consumer.max_unsettled == default_unsettled(consumer.window_size)
    unsettled = limits.get("max_unsettled", None if follows else consumer.max_unsettled)
    return {**limits, "max_unsettled": checked_unsettled(unsettled, window)}


def default_unsettled(window: int) -> int:
    return UNSETTLED_PER_WINDOW * window


def checked_unsettled(unsettled: int | None, window: int) -> int:
    if unsettled is None:
        return default_unsettled(window)
    if not window <= unsettled <= MAX_UNSETTLED:
        message = f"Must be from {window} (the window) to {MAX_UNSETTLED}."
        raise InvalidField(message, field="maxUnsettled", min=window, max=MAX_UNSETTLED)
    return unsettled


def _differing(shown: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if other.get(name) != value}
