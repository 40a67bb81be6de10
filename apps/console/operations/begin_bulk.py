"""Freezes what matches now, and keeps who asked for what and why. A Celery task does the rest."""

from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from apps.access import audit
from apps.console.models import Bulk, Objects
from apps.console.selectors.matching import AREAS, MOST, Reaches, Wanted, everything, matching
from core import sql
from core.errors import InvalidField
from core.ids import uuid7

FREEZE = sql.statement(__file__, "freeze")
OBJECTS = {"events": "bulk-of-events", "queues": "bulk-of-queues"}


def begin(
    actor: audit.Actor, wanted: Wanted, reason: str, *, rate: int | None = None, reaches: Reaches = everything
) -> Bulk:
    """Raises InvalidField: no such operation, or nothing matches."""
    items = matching(wanted, reaches)[:MOST]
    if not items:
        raise InvalidField("Nothing matches.", field="filter")
    with transaction.atomic():
        bulk = _keep(actor, wanted, reason, rate, len(items))
        homes, targets = zip(*items, strict=True)
        sql.run((FREEZE, {"bulk": bulk.pk, "homes": list(homes), "targets": list(targets)}))
        record(actor, "begin", bulk, after={"verb": bulk.verb, "filter": bulk.filter, "total": bulk.total, "rate": rate})
    return bulk


def record(actor: audit.Actor, verb: str, bulk: Bulk, *, after: dict[str, Any], reason: str | None = None) -> None:
    """Under the name of the one thing it is about, or `*`: whoever may read of all of them may read this."""
    audit.record(
        actor, verb, OBJECTS[bulk.area], bulk.filter.get("name", "*"),
        object_id=bulk.pk, after=after, reason=bulk.reason if reason is None else reason,
    )  # fmt: skip


def _keep(actor: audit.Actor, wanted: Wanted, reason: str, rate: int | None, total: int) -> Bulk:
    kind, identifier, name = audit.who(actor)
    made = Bulk.objects.create(
        id=uuid7(),
        verb=wanted.verb,
        objects_kind=Objects(wanted.objects),
        area=AREAS[wanted.objects],
        filter=wanted.filter,
        reason=reason,
        rate=rate,
        actor_kind=kind,
        actor_id=identifier,
        actor_name=name,
        total=total,
        created_at=Now(),
    )
    made.refresh_from_db()
    return made
