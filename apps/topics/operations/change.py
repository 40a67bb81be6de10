"""Changing a topic's settings."""

from typing import Any

from django.db import transaction

from apps.access import audit
from apps.topics.models import Topic
from apps.topics.selectors import resolve
from core.errors import NotFound


def change_topic(actor: audit.Actor, name: str, **changes: Any) -> Topic:
    """Sets the fields of the model that are named. Raises NotFound."""
    found = resolve.fresh_topic(name)
    with transaction.atomic():
        topic = Topic.objects.select_for_update(no_key=True).filter(id=found.id).first()
        if topic is None:
            raise NotFound("There is no such topic.")
        before = {field: getattr(topic, field) for field in changes}
        for field, value in changes.items():
            setattr(topic, field, value)
        topic.save(update_fields=[*changes, "updated_at"])
        audit.record(actor, "change", "topic", topic.name, object_id=topic.uid, before=before, after=changes)
    resolve.forget(topic.name, str(topic.uid))
    return topic
