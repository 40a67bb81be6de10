"""What beat has leases do."""

from celery import shared_task

from apps.leases.operations.tidy import expire_leases


@shared_task(name="leases.expire")
def expire() -> int:
    """Notes what ran out and wakes those who wait for it; an expired lease is one without this, too."""
    return expire_leases()
