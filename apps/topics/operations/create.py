"""Making topics, by name or by their first use."""

from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from apps.access import audit
from apps.topics.models import DEFAULT_PARTITIONS, Topic
from apps.topics.selectors import resolve
from apps.topics.selectors.resolve import TopicRef
from core import sql
from core.errors import InvalidField, NameTaken, NotFound
from core.names import as_uuid, check_name

MAKE_PARTITIONS = sql.statement(__file__, "make_partitions")


def create_topic(actor: audit.Actor, name: str, partitions: int = DEFAULT_PARTITIONS, **configured: Any) -> Topic:
    """A new topic. Raises InvalidField and NameTaken."""
    check_name(name)
    if not 1 <= partitions <= 256:
        raise InvalidField("Must be from 1 to 256.", field="partitions", min=1, max=256)
    try:
        with transaction.atomic():
            topic = Topic.objects.create(name=name, partitions=partitions, **configured)
            sql.run((MAKE_PARTITIONS, {"topic_id": topic.id, "partitions": partitions}))
            audit.record(actor, "create", "topic", name, object_id=topic.uid, after={"partitions": partitions, **configured})
    except IntegrityError:
        raise NameTaken("A topic has this name.", field="name") from None
    resolve.forget(name)
    return topic


def topic_for_use(name: str) -> TopicRef:
    """The topic, made if it is missing and the installation makes topics by their first use. Raises NotFound."""
    try:
        return resolve.topic(name)
    except NotFound:
        make_by_use(name)
    return resolve.topic(name)


def make_by_use(name: str) -> None:
    """Makes a missing topic, where the installation allows that; in a transaction it is gone with it. Raises NotFound."""
    if not settings.TOWPATH["CREATE_TOPICS_ON_USE"] or as_uuid(name) is not None:
        raise NotFound("There is no such topic.")
    check_name(name, "topic")
    try:
        create_topic(None, name)
    except NameTaken:
        # Somebody else's first use came in between; theirs is committed, and the next query sees it.
        pass
