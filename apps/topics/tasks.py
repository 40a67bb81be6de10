"""What beat has topics do."""

from celery import shared_task

from apps.topics.operations.delete import sweep_deleted
from apps.topics.operations.forget import forget_keys


@shared_task(name="topics.sweep_deleted")
def sweep_deleted_topics() -> int:
    return sweep_deleted()


@shared_task(name="topics.forget_keys")
def forget_old_keys() -> int:
    return forget_keys()
