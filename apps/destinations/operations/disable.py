"""Switching off a destination that its endpoint does not want, or that never gets through; `resume` switches it on."""

from django.db import transaction

from apps.access import audit
from apps.cursors import operations as cursors
from apps.destinations.models import Destination
from core.errors import NotFound


def disable(topic_id: int, consumer_id: int, reason: str) -> None:
    """With its record in the audit trail. One that is deleted meanwhile needs neither."""
    with transaction.atomic():
        destination = Destination.objects.filter(topic_id=topic_id, consumer_id=consumer_id).first()
        if destination is None:
            return
        try:
            cursors.disable(topic_id, consumer_id, reason)
        except NotFound:
            return
        audit.record(None, "disable", "destination", destination.name, object_id=destination.uid, reason=reason)
