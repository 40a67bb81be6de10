"""Making and revoking grants. What is revoked opens nothing from the commit on, and ends live connections in seconds."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import Now

from apps.access import audit
from apps.channels import tokens
from apps.channels.models import ChannelGrant, ChannelKind, GrantedChannel
from apps.channels.names import kind_of
from core import notices
from core.clock import rfc3339
from core.errors import NotFound

NOTICE_KEY = "grants"


@transaction.atomic
def make(actor: audit.Actor, channels: Sequence[str], subject: str, seconds: int) -> tuple[ChannelGrant, str]:
    """The grant and its token, which cannot be read again. Raises NotFound for an unknown kind of channel."""
    kinds = {kind_of(channel): None for channel in channels}
    known = set(ChannelKind.objects.filter(name__in=kinds).values_list("name", flat=True))
    if unknown := [kind for kind in kinds if kind not in known]:
        raise NotFound(f"There is no kind of channel {unknown[0]!r}.")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT statement_timestamp(), statement_timestamp() + make_interval(secs => %s)",
            [seconds],
        )
        made_at, expires_at = cursor.fetchone()
    grant = ChannelGrant.objects.create(
        subject=subject, made_by=audit.name_of(actor), created_at=made_at, expires_at=expires_at
    )
    GrantedChannel.objects.bulk_create(GrantedChannel(grant=grant, channel=channel) for channel in channels)
    _record(actor, "create", channels, grant.id, subject, expires_at)
    return grant, tokens.write(grant.id, expires_at)


@transaction.atomic
def revoke(actor: audit.Actor, grant: ChannelGrant, reason: str = "") -> None:
    """Doing it again changes nothing."""
    _revoke(actor, grant.channels.filter(revoked_at=None), reason)


@transaction.atomic
def revoke_subject(
    actor: audit.Actor, subject: str, channels: Sequence[str] | None, reaches: str | None, reason: str = ""
) -> int:
    """Every grant of the subject issued before now, for these channels or all; returns how many grants that touched.

    `reaches`: a regular expression for the channels that the actor may revoke; None: all of them.
    """
    granted = GrantedChannel.objects.filter(grant__subject=subject, revoked_at=None, grant__expires_at__gt=Now())
    if channels is not None:
        granted = granted.filter(channel__in=channels)
    if reaches is not None:
        granted = granted.filter(channel__regex=reaches)
    return _revoke(actor, granted, reason)


def _revoke(actor: audit.Actor, granted: Iterable[GrantedChannel], reason: str) -> int:
    # Locked in one order: two revocations of overlapping grants wait for each other, not in a circle.
    rows = list(granted.select_for_update(of=("self",)).select_related("grant").order_by("pk"))  # type: ignore[attr-defined]
    GrantedChannel.objects.filter(pk__in=[row.pk for row in rows]).update(revoked_at=Now())
    for row in rows:
        _record(actor, "revoke", [row.channel], row.grant_id, row.grant.subject, row.grant.expires_at, reason)
    if rows:
        notices.publish(NOTICE_KEY)
    return len({row.grant_id for row in rows})


def _record(
    actor: audit.Actor,
    verb: str,
    channels: Iterable[str],
    grant: UUID,
    subject: str,
    expires_at: datetime,
    reason: str = "",
) -> None:
    """A row a channel: who may manage that one sees it."""
    for channel in channels:
        after = {"subject": subject, "expiresAt": rfc3339(expires_at)}
        audit.record(actor, verb, "grant", channel, object_id=grant, after=after, reason=reason)
