"""Pausing and resuming: once a pause is answered nothing more is handed out, until it is resumed or its time comes."""

from datetime import datetime

from django.db import transaction

from apps.access import audit
from apps.cursors import operations as cursors
from apps.destinations.models import Destination, PushState
from apps.destinations.selectors.find import get
from apps.destinations.selectors.shown import consumer_of
from core.clock import rfc3339
from core.errors import InvalidField
from core.sql import database_time


def pause(
    actor: audit.Actor, reference: str, *, reason: str | None = None, resume_at: datetime | None = None
) -> Destination:
    """Leased batches can still be acknowledged. Paused again, the newer reason and end stand.

    Raises NotFound, InvalidField.
    """
    if resume_at is not None and resume_at <= database_time():
        raise InvalidField("Must be in the future.", field="resumeAt")
    with transaction.atomic():
        destination = get(reference)
        before = _pause_of(destination)
        by = audit.name_of(actor)
        cursors.pause(destination.topic_id, destination.consumer_id, by=by, reason=reason, resume_at=resume_at)
        _record(actor, "pause", destination, before, reason)
    return destination


def resume(actor: audit.Actor, reference: str, *, reason: str | None = None) -> Destination:
    """Hands out again at once, also what was disabled or left alone for failing. Raises NotFound."""
    with transaction.atomic():
        destination = get(reference)
        before = _pause_of(destination)
        cursors.resume(destination.topic_id, destination.consumer_id)
        PushState.objects.filter(destination=destination).delete()
        _record(actor, "resume", destination, before, reason)
    return destination


def _record(
    actor: audit.Actor, verb: str, destination: Destination, before: dict[str, str | None], reason: str | None
) -> None:
    audit.record(
        actor, verb, "destination", destination.name,
        object_id=destination.uid, before=before, after=_pause_of(destination), reason=reason or "",
    )  # fmt: skip


def _pause_of(destination: Destination) -> dict[str, str | None]:
    consumer = consumer_of(destination)
    times = {"pausedAt": consumer.paused_at, "resumeAt": consumer.resume_at}
    return {name: None if moment is None else rfc3339(moment) for name, moment in times.items()}
