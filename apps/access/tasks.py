"""What beat has access do."""

from celery import shared_task

from apps.access.operations import forget


@shared_task(name="access.forget")
def forget_old() -> int:
    return forget()
