"""What may be read about credentials and the trail of changes."""

from django.db.models import Q, QuerySet

from apps.access.models import Audit
from apps.access.scopes import AREAS, Principal


def audit_for(principal: Principal) -> QuerySet[Audit]:
    """The trail of the kinds and names that the principal may manage; never of credentials (those are the admin's)."""
    visible = Q(pk__in=[])
    for area in AREAS:
        if principal.has(f"manage:{area}"):
            visible |= Q(area=area) & principal.named(f"manage:{area}", "object_name")
    return Audit.objects.filter(visible)
