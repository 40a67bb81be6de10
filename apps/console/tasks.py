"""What beat sends to the console: a sign of life, and work that belongs to no single app."""

from celery import shared_task

from apps.console import health
from core import partitions


@shared_task(name="console.prove_beat")
def prove_beat() -> int:
    return health.prove_beat()


@shared_task(name="console.roll_partitions")
def roll_partitions() -> int:
    """Day partitions of every app: 30 days ahead made, old ones dropped. So settled leases and dedup keys are purged."""
    return partitions.roll()
