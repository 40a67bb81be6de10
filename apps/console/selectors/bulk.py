"""Bulk operations as those who may see them see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.access.scopes import Principal
from apps.console.models import Bulk
from apps.console.selectors.matching import COUNTED, Item, Reaches, Wanted, everything, matching
from apps.destinations.models import Destination
from apps.queues.models import Queue
from core.errors import NotFound

SAMPLE = 10


@dataclass(frozen=True)
class Preview:
    number: int
    """At most COUNTED."""
    more: bool
    sample: Sequence[tuple[str, UUID | None]]
    """Names of destinations or queues, with the dead letter."""


def preview(wanted: Wanted, reaches: Reaches = everything) -> Preview:
    """How much it would be about, and some of it. Raises InvalidField."""
    found = matching(wanted, reaches, COUNTED)
    names = names_of(found[:SAMPLE])
    sample = [(names.get(home, "deleted"), target) for home, target in found[:SAMPLE]]
    return Preview(min(len(found), COUNTED), len(found) > COUNTED, sample)


def names_of(items: Sequence[Item]) -> dict[UUID, str]:
    homes = {home for home, _ in items}
    return {
        uid: name
        for rows in (Destination.objects, Queue.objects)
        for uid, name in rows.filter(uid__in=homes).values_list("uid", "name")
    }


def visible(principal: Principal) -> QuerySet[Bulk]:
    """Its own, and all of an area that it may manage without bounds: others may be about names it must not learn."""
    seen = Q(actor_kind=principal.kind, actor_id=str(principal.id))
    for area in ("events", "queues"):
        if principal.has(f"manage:{area}") and principal.names(f"manage:{area}") is None:
            seen |= Q(area=area)
    return Bulk.objects.filter(seen)


def one(principal: Principal, number: UUID) -> Bulk:
    """Raises NotFound."""
    found = visible(principal).filter(pk=number).first()
    if found is None:
        raise NotFound("There is no such bulk operation.")
    return found
