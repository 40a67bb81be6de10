"""The audit trail: every change by an operator, written in the same transaction as the change itself.

audit.record(actor, "pause", "destination", destination.name, object_id=destination.uid,
             before={"pausedAt": None}, after={"pausedAt": rfc3339(moment)}, reason=reason)
"""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db.models.functions import Now

from apps.access.models import Audit
from apps.access.scopes import Principal
from core.ids import uuid7
from core.log import REQUEST_ID

AREAS = {
    "topic": "events",
    "group": "events",
    "destination": "events",
    "lease": "events",
    "dead-letter": "events",
    "bulk-of-events": "events",
    "bulk-of-queues": "queues",
    "queue": "queues",
    "queue-event": "queues",
    "schedule": "queues",
    "channel": "channels",
    "channel-kind": "channels",
    "grant": "channels",
    "api-key": "access",
    "oauth-client": "access",
}
"""Which `manage` scope may read about a kind of object; `access` is for the admin alone."""

_PROGRAMS = {"api-key": "API key", "oauth-client": "OAuth client"}

Actor = Principal | AbstractBaseUser | None
"""None: the service itself, or whoever can run its commands."""


def record(
    actor: Actor,
    verb: str,
    object_kind: str,
    object_name: str,
    *,
    object_id: UUID | str | int = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    reason: str = "",
    request_id: str = "",
) -> None:
    """Adds a row in the caller's transaction. Patterns are matched against `object_name` (`topic/group` for groups)."""
    kind, identifier, name = who(actor)
    Audit.objects.create(
        id=uuid7(),
        at=Now(),
        area=AREAS[object_kind],
        actor_kind=kind,
        actor_id=identifier,
        actor_name=name,
        verb=verb,
        object_kind=object_kind,
        object_id=str(object_id),
        object_name=object_name,
        before=before,
        after=after,
        reason=reason,
        request_id=request_id or REQUEST_ID.get(),
    )


def name_of(actor: Actor) -> str:
    """What to call them where people read it: a person by the name alone."""
    kind, _, name = who(actor)
    return f"{_PROGRAMS[kind]} {name}" if kind in _PROGRAMS else name


def who(actor: Actor) -> tuple[str, str, str]:
    """Kind, id and name, as a record keeps them."""
    if actor is None:
        return "system", "", "system"
    if isinstance(actor, Principal):
        return actor.kind, str(actor.id), actor.name
    return "user", str(actor.pk), actor.get_username()
