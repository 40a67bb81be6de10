"""What beat has leases do."""

from celery import shared_task

from apps.leases.operations.dead_letters import forget_redriven
from apps.leases.operations.park import park_spent
from apps.leases.operations.retain import forget_skipped, retain
from apps.leases.operations.tidy import expire_leases


@shared_task(name="leases.expire")
def expire() -> int:
    """Notes what ran out and wakes those who wait for it; an expired lease is one without this, too."""
    return expire_leases() + park_spent()


@shared_task(name="leases.forget_redriven")
def forget() -> int:
    return forget_redriven()


@shared_task(name="leases.forget_skipped")
def forget_old_skipped() -> int:
    return forget_skipped()


@shared_task(name="leases.retain")
def retain_cold() -> int:
    return retain()
