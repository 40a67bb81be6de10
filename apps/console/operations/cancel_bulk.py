"""Ending one early: what is done stays done, the rest stays as it was."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from apps.access import audit
from apps.console.errors import BulkEnded
from apps.console.models import Bulk, BulkItem
from apps.console.operations.begin_bulk import record
from core.errors import NotFound

KEPT = timedelta(days=30)


def cancel(actor: audit.Actor, number: UUID, reason: str) -> Bulk:
    """No item is begun any more. Raises NotFound, BulkEnded."""
    with transaction.atomic():
        bulk = Bulk.objects.select_for_update().filter(pk=number).first()
        if bulk is None:
            raise NotFound("There is no such bulk operation.")
        if bulk.state != Bulk.State.RUNNING:
            raise BulkEnded()
        Bulk.objects.filter(pk=number).update(state=Bulk.State.CANCELLED, ended_at=Now())
        bulk.refresh_from_db()
        record(actor, "cancel", bulk, after={"processed": bulk.processed, "total": bulk.total}, reason=reason)
    return bulk


def forget_items() -> int:
    """Items of what ended a month ago go, one operation a run; what it was and its figures are kept."""
    old = Bulk.objects.filter(ended_at__lt=Now() - KEPT, items__isnull=False).order_by("id").first()
    return 0 if old is None else BulkItem.objects.filter(bulk_id=old.pk).delete()[0]
