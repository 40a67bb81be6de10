"""Deleting a topic: gone for everybody at once, its rows removed by a sweep in bounded steps."""

from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.db.models.functions import Now

from apps.access import audit
from apps.topics.cold import store
from apps.topics.errors import TopicInUse
from apps.topics.models import DeletedTopic, Topic
from apps.topics.operations.expire import may_delete
from apps.topics.selectors import resolve
from core import sql
from core.errors import NotFound
from core.exclusive import alone

DROP_PARTITIONS = sql.statement(__file__, "drop_partitions")
SWEEP_EVENTS = sql.statement(__file__, "sweep_events")
REMOVE_SEGMENTS = sql.statement(__file__, "remove_segments")
SWEEP_KEYS = sql.statement(__file__, "sweep_keys")

STEP = 5_000
OBJECTS = 20
STEPS_A_SWEEP = 100


def delete_topic(actor: audit.Actor, name: str) -> None:
    """A topic made again under the name is another one, from offset 0. Raises NotFound and TopicInUse."""
    found = resolve.fresh_topic(name)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            # Locked, so that of two deletions the second finds nothing.
            topic = Topic.objects.select_for_update().filter(id=found.id).first()
            if topic is None:
                raise NotFound("There is no such topic.")
            topic.delete()
            # The protecting foreign keys are deferred: ask now, so that the answer is ours.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            sql.run((DROP_PARTITIONS, {"topic_id": found.id}))
            DeletedTopic.objects.create(id=found.id, uid=found.uid, name=found.name, partitions=found.partitions)
            audit.record(actor, "delete", "topic", found.name, object_id=found.uid)
    except (ProtectedError, IntegrityError):
        raise TopicInUse() from None
    resolve.forget(found.name, str(found.uid))


def sweep_deleted() -> int:
    """Removes rows of deleted topics, a bounded number; answers how many. One sweep at a time."""
    removed = 0
    for _ in range(STEPS_A_SWEEP):
        step = _step()
        if step is None:
            break
        removed += step
    return removed


def _step() -> int | None:
    """One short transaction; None when there is nothing to do, or somebody else is at it."""
    with alone("topics.sweep_deleted") as is_alone:
        # No step while somebody copies: the index that is copied may name what is removed here.
        left = DeletedTopic.objects.filter(removed_at=None).order_by("deleted_at", "id")
        topic = left.first() if is_alone and may_delete() else None
        if topic is None:
            return None
        removed = _remove_some(topic)
        if not removed:
            DeletedTopic.objects.filter(id=topic.id).update(removed_at=Now())
        return removed


def _remove_some(topic: DeletedTopic) -> int:
    for partition in range(topic.partitions):
        step = {"topic_id": topic.id, "partition": partition, "limit": STEP}
        if removed := len(sql.run((SWEEP_EVENTS, step))[0]):
            return removed
    if locators := [row[0] for row in sql.run((REMOVE_SEGMENTS, {"topic_id": topic.id, "limit": OBJECTS}))[0]]:
        # If the store fails the rows stay, and the next step tries again.
        store.delete(*locators)
        return len(locators)
    return len(sql.run((SWEEP_KEYS, {"topic_id": topic.id, "limit": STEP}))[0])
