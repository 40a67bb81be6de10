"""What an operator or a sweep does to leases. Expiry itself needs neither: it is a comparison when someone pulls."""

from collections import Counter
from uuid import UUID

from django.db import transaction

from apps.cursors import operations as cursors
from apps.cursors.models import Consumer
from apps.leases.models import DeadLetter
from core import notices, sql
from core.errors import NotFound

FORGET_SKIPPED = sql.statement(__file__, "forget_skipped")
EXPIRE = sql.statement(__file__, "expire")
SUPERSEDE = sql.statement(__file__, "supersede")
SWEEP = sql.statement(__file__, "sweep")

SWEEP_BATCH = 1_000
SUPERSEDE_BATCH = 10_000


def expire(topic_id: int, consumer_id: int, lease_id: UUID) -> None:
    """Makes a lease redeliverable at once, one that waits for its delay too; the worker's acknowledgement is then stale.

    Raises NotFound when the lease is settled already.
    """
    lease = {"topic_id": topic_id, "consumer_id": consumer_id, "lease_id": lease_id}
    if not sql.run((EXPIRE, lease))[0]:
        raise NotFound()
    notices.publish(f"consumer:{consumer_id}")


@transaction.atomic
def delete_consumer(topic_id: int, consumer_id: int) -> None:
    """Removes a consumer with its positions; what its leases held is over, and a late acknowledgement says so.

    Who waits for it learns at once that it is gone.
    """
    consumer = {"topic_id": topic_id, "consumer_id": consumer_id}
    sql.run((cursors.LOCK_CONSUMER, consumer))
    letters = DeadLetter.objects.filter(topic_id=topic_id, consumer_id=consumer_id)
    # Again until nothing is left: a lease is being parked meanwhile, or a dead letter redriven, and each makes the other.
    while letters.delete()[0] + len(sql.run((SUPERSEDE, {**consumer, "limit": SUPERSEDE_BATCH}))[0]):
        pass
    sql.run((FORGET_SKIPPED, consumer))
    cursors.delete_consumer(topic_id, consumer_id)
    notices.publish(f"consumer:{consumer_id}")


def expire_leases() -> int:
    """Notes what ran out and wakes those who wait for it; returns how many leases. Bounded: the next run takes the rest."""
    return sum(_expire_in(topic_id) for topic_id in Consumer.objects.values_list("topic_id", flat=True).distinct())


def _expire_in(topic_id: int) -> int:
    ended = Counter(consumer for (consumer,) in sql.run((SWEEP, {"topic_id": topic_id, "limit": SWEEP_BATCH}))[0])
    for consumer_id, count in ended.items():
        notices.publish(f"consumer:{consumer_id}", count)
    return ended.total()
