"""What beat has topics do."""

from celery import shared_task

from apps.topics.operations.delete import sweep_deleted


@shared_task(name="topics.sweep_deleted")
def sweep_deleted_topics() -> int:
    return sweep_deleted()
