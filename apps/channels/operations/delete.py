"""Ending a channel: it takes one sequence that nobody can read, so that every cursor from before is told to start over."""

from django.db import transaction

from apps.access import audit
from apps.channels.names import notice_key
from apps.channels.operations.publish import LOCK_CHANNEL
from core import notices, sql
from core.errors import NotFound

DELETE_CHANNEL = sql.statement(__file__, "delete_channel")


@transaction.atomic
def delete(actor: audit.Actor, name: str, reason: str = "") -> None:
    """Removes events, documents and log lines. Raises NotFound, also when nothing came since the last deletion."""
    _, ended = sql.run((LOCK_CHANNEL, {"name": name}), (DELETE_CHANNEL, {"name": name}))
    if not ended:
        raise NotFound("There is no such channel.")
    audit.record(actor, "delete", "channel", name, before={"sequence": ended[0][0] - 1}, reason=reason)
    notices.publish(notice_key(name))
