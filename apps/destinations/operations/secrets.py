"""Signing secrets of webhooks: made with the destination, rotated so that for a day both are valid."""

from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from apps.access import audit
from apps.destinations.errors import NotAWebhook
from apps.destinations.models import Destination, Type, WebhookSecret
from apps.destinations.selectors.find import get, locked
from apps.destinations.webhooks.signing import new_secret

BOTH_VALID = timedelta(days=1)


def add_secret(destination: Destination, given: str | None) -> str | None:
    """The secret that was made, to be told this once; None for a given one, which is known already."""
    secret = given or new_secret()
    WebhookSecret.objects.create(destination=destination, secret=secret, created_at=Now())
    return None if given else secret


def rotate(
    actor: audit.Actor, reference: str, secret: str | None, *, reason: str | None = None
) -> tuple[Destination, str | None]:
    """The destination, and its new secret if that was made here; requests carry both signatures for a day.

    Raises NotFound, NotAWebhook.
    """
    with transaction.atomic():
        destination = locked(webhook(reference))
        old = WebhookSecret.objects.select_for_update().filter(destination=destination)
        old.filter(expires_at=None).update(expires_at=Now() + BOTH_VALID)
        old.filter(expires_at__lt=Now()).delete()
        made = add_secret(destination, secret)
        audit.record(actor, "rotate-secret", "destination", destination.name, object_id=destination.uid, reason=reason or "")
    return destination, made


def webhook(reference: str) -> Destination:
    """Raises NotFound, NotAWebhook."""
    destination = get(reference)
    if destination.type != Type.WEBHOOK:
        raise NotAWebhook()
    return destination
