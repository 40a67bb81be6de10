"""What beat sends: each task calls one operation, which works channel by channel in small batches."""

from celery import shared_task

from apps.channels.operations import forget


@shared_task(name="channels.forget_events")
def forget_events() -> int:
    return forget.forget_events()


@shared_task(name="channels.forget_rest")
def forget_rest() -> int:
    """Log lines and grants that are over."""
    return forget.forget_logs() + forget.forget_grants()
