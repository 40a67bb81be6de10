"""What beat sends: each task calls one operation, which works queue by queue in small batches."""

from celery import shared_task

from apps.queues.operations import firing, sampling, sweep


@shared_task(name="queues.expire")
def expire() -> int:
    """Parks events whose last lease has ended; the others become ready in the claims themselves."""
    return sweep.every_queue(sweep.park_exhausted)


@shared_task(name="queues.repair_groups")
def repair_groups() -> int:
    return sweep.every_queue(sweep.repair_groups)


@shared_task(name="queues.forget")
def forget() -> int:
    return sweep.every_queue(sweep.forget) + sweep.finish_purges() + sweep.remove_deleted()


@shared_task(name="queues.fire_schedules")
def fire_schedules() -> int:
    return firing.fire_schedules()


@shared_task(name="queues.sample")
def sample() -> int:
    return sweep.every_queue(sampling.sample)
