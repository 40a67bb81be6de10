"""What beat sends to the console: a sign of life."""

from celery import shared_task

from apps.console import health


@shared_task(name="console.prove_beat")
def prove_beat() -> int:
    return health.prove_beat()
