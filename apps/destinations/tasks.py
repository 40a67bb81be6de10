"""What beat has destinations do."""

from celery import shared_task

from apps.destinations.operations.sample import sample_lag, thin_samples


@shared_task(name="destinations.sample")
def sample() -> int:
    return sample_lag()


@shared_task(name="destinations.thin")
def thin() -> int:
    return thin_samples()
