"""A destination as it is shown: every field it takes, with the value in force."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q

from apps.cursors.models import Consumer
from apps.destinations.models import Destination
from core.clock import rfc3339
from core.errors import NotFound


def consumer_of(destination: Destination) -> Consumer:
    """Raises NotFound when the destination was deleted meanwhile."""
    found = Consumer.objects.filter(topic_id=destination.topic_id, consumer_id=destination.consumer_id).first()
    if found is None:
        raise NotFound()
    return found


def consumers_of(destinations: Iterable[Destination]) -> dict[tuple[int, int], Consumer]:
    """Those of a page, in one query."""
    keys = Q()
    for destination in destinations:
        keys |= Q(topic_id=destination.topic_id, consumer_id=destination.consumer_id)
    if not keys:
        return {}
    return {(consumer.topic_id, consumer.consumer_id): consumer for consumer in Consumer.objects.filter(keys)}


def settings_of(destination: Destination, consumer: Consumer | None = None) -> dict[str, Any]:
    """JSON without state: what the API shows, and what audit records compare."""
    consumer = consumer or consumer_of(destination)
    return {
        "id": str(destination.uid),
        "name": destination.name,
        "type": destination.type,
        "topic": destination.topic.name,
        "filter": _filter(consumer),
        "startAt": destination.settings.get("startAt", "head"),
        "window": consumer.window_size,
        "maxUnsettled": consumer.max_unsettled,
        "maxDeliveries": consumer.max_deliveries,
        "ordering": consumer.ordering,
        "retryBackoff": consumer.retry_backoff,
        **target_of(destination),
        "createdAt": rfc3339(destination.created_at),
        "updatedAt": rfc3339(max(destination.updated_at, consumer.updated_at)),
    }


def target_of(destination: Destination) -> dict[str, Any]:
    """Where it pushes to, under the name of its type; secrets are not in it."""
    field = destination.type.lower()
    return {field: destination.settings[field]} if field in destination.settings else {}


def _filter(consumer: Consumer) -> dict[str, Any] | None:
    shown = {"types": consumer.types, "subjectPrefix": consumer.subject_prefix, "sourcePrefix": consumer.source_prefix}
    return shown if any(value is not None for value in shown.values()) else None
