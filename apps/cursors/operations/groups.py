"""Consumer groups come with their first commit or assignment, and go when they are deleted."""

from django.db import IntegrityError, transaction

from apps.access import audit
from apps.cursors.models import Consumer, Group, Kind
from apps.cursors.operations.consumers import LOCK_CONSUMER, create_consumer, delete_consumer
from apps.topics.models import Topic
from apps.topics.selectors.resolve import TopicRef
from core import sql
from core.errors import NotFound

FORGET_MEMBERS = sql.statement(__file__, "forget_members")


def group_for_use(topic: TopicRef, name: str) -> int:
    """The number of the group's consumer; a new one starts at the oldest readable record. Raises NotFound (the topic)."""
    found = _consumer_id(topic, name)
    return _make(topic, name) if found is None else found


def delete_group(actor: audit.Actor, topic: TopicRef, name: str) -> None:
    """Its positions and assignments are gone; under the name a new group starts at the oldest. Raises NotFound."""
    with transaction.atomic():
        group = Group.objects.filter(topic_id=topic.id, name=name).first()
        if group is None:
            raise NotFound("There is no such group.")
        consumer = {"topic_id": topic.id, "consumer_id": group.consumer_id}
        if not sql.run((LOCK_CONSUMER, consumer), (FORGET_MEMBERS, consumer))[0]:
            raise NotFound("There is no such group.")
        group.delete()
        delete_consumer(topic.id, group.consumer_id)
        audit.record(actor, "delete", "group", f"{topic.name}/{name}")


def _consumer_id(topic: TopicRef, name: str) -> int | None:
    groups = Consumer.objects.filter(topic_id=topic.id, kind=Kind.GROUP, name=name)
    return groups.values_list("consumer_id", flat=True).first()


def _make(topic: TopicRef, name: str) -> int:
    try:
        with transaction.atomic():
            # Locked, so that the topic is not deleted between here and the commit.
            if not Topic.objects.select_for_update(no_key=True).filter(id=topic.id).exists():
                raise NotFound("There is no such topic.")
            consumer_id = create_consumer(topic.id, Kind.GROUP, name, start="oldest")
            Group.objects.create(topic_id=topic.id, name=name, consumer_id=consumer_id)
            return consumer_id
    except IntegrityError:
        found = _consumer_id(topic, name)  # somebody else's first commit came in between
        if found is None:
            raise NotFound("The group was deleted.") from None
        return found
