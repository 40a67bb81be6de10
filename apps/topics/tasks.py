"""What beat has topics do."""

from celery import shared_task

from apps.topics.operations.delete import sweep_deleted
from apps.topics.operations.expire import delete_forgotten
from apps.topics.operations.forget import forget_keys, forget_notes
from apps.topics.operations.merge import merge
from apps.topics.operations.reconcile import reconcile
from apps.topics.operations.spill import sweep


@shared_task(name="topics.sweep_deleted")
def sweep_deleted_topics() -> int:
    return sweep_deleted()


@shared_task(name="topics.forget_keys")
def forget_old_keys() -> int:
    return forget_keys()


@shared_task(name="topics.forget_notes")
def forget_old_notes() -> int:
    return forget_notes()


@shared_task(name="topics.sweep")
def sweep_logs() -> int:
    return sweep() + delete_forgotten()


@shared_task(name="topics.reconcile")
def reconcile_logs() -> int:
    return reconcile()


@shared_task(name="topics.merge")
def merge_segments() -> int:
    return merge()
