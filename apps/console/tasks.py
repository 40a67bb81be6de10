"""What beat sends to the console: a sign of life, and work that belongs to no single app."""

from celery import shared_task

from apps.console import health
from apps.console.operations import advance_bulk as bulk
from apps.console.operations import cancel_bulk
from apps.console.operations.sample import sample_overview
from core import partitions


@shared_task(name="console.prove_beat")
def prove_beat() -> int:
    return health.prove_beat()


@shared_task(name="console.roll_partitions")
def roll_partitions() -> int:
    """Day partitions of every app: 30 days ahead made, old ones dropped. So settled leases and dedup keys are purged."""
    return partitions.roll()


@shared_task(name="console.advance_bulk")
def advance_bulk() -> int:
    return bulk.advance()


@shared_task(name="console.forget_bulk_items")
def forget_bulk_items() -> int:
    return cancel_bulk.forget_items()


@shared_task(name="console.sample")
def sample() -> int:
    return sample_overview()
