"""Moving a destination: the page is the same as of a consumer group."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from apps.access.models import Audit
from apps.destinations.models import Destination
from apps.destinations.operations.seek import seek as move
from apps.destinations.selectors.standing import standing
from apps.leases.admin import seeking
from apps.leases.admin.seeking import SEEK, Reader
from core.admin import person

__all__ = ["SEEK", "seek"]


def seek(request: HttpRequest, row: Destination, back: str) -> HttpResponse:
    actor, known = person(request), str(row.uid)
    reader = Reader(
        name=row.name,
        move=lambda place, **how: move(actor, known, place, **how),
        positions=lambda: {part.partition: part.position for part in standing(row).status.partitions},
        moves=Audit.objects.filter(object_kind="destination", object_name=row.name, object_id=known, verb="seek"),
        url=reverse("admin:destinations_destination_seek", args=[row.pk]),
        back=back,
        held="lease",
        late="a worker that acknowledges one later is answered stale.",
    )
    return seeking.seek(request, reader)
