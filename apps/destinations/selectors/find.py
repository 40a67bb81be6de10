"""From what stands in a URL to a destination: for pulls from memory, at most 5 s old."""

import time
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from apps.destinations.models import Destination, Type
from core.errors import NotFound
from core.names import as_uuid

CACHE_SECONDS = 5.0
MAX_CACHED = 10_000


@dataclass(frozen=True)
class Found:
    """What a pull needs to know. A destination that is gone meanwhile is found out under the consumer's lock."""

    uid: UUID
    name: str
    type: str
    topic_id: int
    consumer_id: int

    @property
    def is_durable_consumer(self) -> bool:
        return self.type == Type.DURABLE_CONSUMER


_cache: dict[str, tuple[float, Found]] = {}


def find(reference: str) -> Found:
    """By id or name. Raises NotFound; that is never remembered."""
    cached = _cache.get(reference)
    if cached is not None and cached[0] > time.monotonic():
        return cached[1]
    rows = Destination.objects.filter(by_reference(reference)).values_list("uid", "name", "type", "topic_id", "consumer_id")
    row = rows.first()
    if row is None:
        raise NotFound()
    found = Found(*row)
    if len(_cache) >= MAX_CACHED:
        _cache.clear()
    _cache[reference] = (time.monotonic() + CACHE_SECONDS, found)
    return found


def forget_found() -> None:
    """For whoever changes or deletes one: at once in this process, within 5 s in the others."""
    _cache.clear()


def by_reference(reference: str) -> Q:
    """Names never look like ids, so that one reference means one destination. Raises NotFound for what no name can be."""
    uid = as_uuid(reference)
    if "\x00" in reference:
        raise NotFound()
    return Q(name=reference) if uid is None else Q(uid=uid)


def get(reference: str) -> Destination:
    """The row itself, with its topic. Raises NotFound."""
    found = Destination.objects.select_related("topic").filter(by_reference(reference)).first()
    if found is None:
        raise NotFound()
    return found


def locked(found: Destination) -> Destination:
    """As it is now, and so until the end of the transaction. Raises NotFound when it was deleted since it was looked up."""
    row = Destination.objects.select_for_update(of=("self",)).filter(pk=found.pk).first()
    if row is None:
        raise NotFound()
    return row
