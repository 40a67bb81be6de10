"""Kinds of channels: which documents they have, and for how long their events and logs are kept."""

from typing import Any

from django.db import IntegrityError, transaction

from apps.access import audit
from apps.channels.models import ChannelKind
from core.errors import InvalidField, NameTaken, NotFound
from core.names import check_name

SETTINGS = ("documents", "events_records", "events_seconds", "events_bytes", "logs_seconds")


def create(actor: audit.Actor, name: str, settings: dict[str, Any]) -> ChannelKind:
    """Raises NameTaken, InvalidField."""
    if ":" in check_name(name):
        raise InvalidField("The name of a kind ends where its channels have a colon: it has none.", field="name")
    try:
        with transaction.atomic():
            kind = ChannelKind.objects.create(name=name, **settings)
            audit.record(actor, "create", "channel-kind", name, object_id=kind.pk, after=_settings(kind))
    except IntegrityError:
        raise NameTaken("Another kind has this name.", field="name") from None
    return kind


@transaction.atomic
def change(actor: audit.Actor, name: str, settings: dict[str, Any]) -> ChannelKind:
    """A document key that is left out hides its documents: they are there again with the key. Raises NotFound."""
    kind = ChannelKind.objects.select_for_update().filter(name=name).first()
    if kind is None:
        raise NotFound("There is no such kind of channel.")
    before = _settings(kind)
    for setting, value in settings.items():
        setattr(kind, setting, value)
    kind.save()
    audit.record(actor, "change", "channel-kind", name, object_id=kind.pk, before=before, after=_settings(kind))
    return kind


def _settings(kind: ChannelKind) -> dict[str, Any]:
    return {name: getattr(kind, name) for name in SETTINGS}
