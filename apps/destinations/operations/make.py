"""Making a destination: its row, its consumer at the place it starts from, the audit record, all or nothing."""

from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from apps.access import audit
from apps.cursors.models import Kind
from apps.cursors.operations import Filter, Limits, create_consumer
from apps.cursors.selectors import Place
from apps.destinations.models import Destination, Type
from apps.destinations.operations.secrets import add_secret
from apps.destinations.selectors.shown import settings_of
from apps.topics.models import Topic
from apps.topics.operations.create import make_by_use
from core import notices
from core.errors import NameTaken, NotFound
from core.ids import uuid7
from core.names import check_name

NAME_CONSTRAINT = "destination_name_unique"


@dataclass(frozen=True)
class Made:
    destination: Destination
    secret: str | None
    """Of a webhook that brought none: made here, and never told again."""


def make(
    actor: audit.Actor,
    name: str,
    kind: str,
    topic: str,
    *,
    limits: Limits,
    chosen: Filter,
    start: Place = "head",
    settings: dict[str, Any],
    secret: str | None = None,
) -> Made:
    """The new destination, a webhook with its secret; a missing topic is made first, where the installation allows that.

    Raises NameTaken, InvalidField, NotFound (the topic), and OutOfLog for a start that is not in the log.
    """
    check_name(name)
    uid = uuid7()
    with transaction.atomic():
        home = _home(topic)
        consumer_id = create_consumer(home.id, Kind.DESTINATION, str(uid), start=start, limits=limits, chosen=chosen)
        destination = Destination(uid=uid, name=name, type=kind, topic=home, consumer_id=consumer_id, settings=settings)
        save(destination)
        told = add_secret(destination, secret) if kind == Type.WEBHOOK else None
        notices.publish("destinations")
        audit.record(actor, "create", "destination", name, object_id=uid, after=settings_of(destination))
    return Made(destination, told)


def _home(name: str) -> Topic:
    """The topic, locked so that it is not deleted meanwhile. Raises NotFound.

    Never from memory: another thread may remember a topic that its transaction has not committed yet.
    """
    topics = Topic.objects.select_for_update(no_key=True).filter(name=check_name(name, "topic"))
    home = topics.first()
    if home is None:
        make_by_use(name)
        home = topics.first()
    if home is None:
        raise NotFound("There is no such topic.")
    return home


def save(destination: Destination) -> None:
    """Inserts or updates. Raises NameTaken when another destination has the name."""
    try:
        with transaction.atomic():
            destination.save()
    except IntegrityError as error:
        if named_by(error) != NAME_CONSTRAINT:
            raise
        raise NameTaken(f"There is a destination {destination.name!r} already.", field="name") from None


def named_by(error: IntegrityError) -> str | None:
    """The constraint that refused."""
    diagnostics = getattr(error.__cause__, "diag", None)
    return diagnostics.constraint_name if diagnostics else None
