"""What an operator does to a dead letter: hand it to the same consumer again, or remove it."""

from uuid import UUID

from apps.cursors.models import Consumer
from apps.leases.errors import AlreadyRedriven
from apps.leases.models import DeadLetter, Death
from core import notices, sql
from core.errors import NotFound
from core.ids import uuid7

REDRIVE = sql.statement(__file__, "redrive")
DISCARD = sql.statement(__file__, "discard")
FORGET_REDRIVEN = sql.statement(__file__, "forget_redriven")

FORGET_BATCH = 1_000


def redrive(topic_id: int, consumer_id: int, letter: UUID) -> None:
    """The same event for this consumer only, attempt 1, as often as a new one. Raises NotFound, AlreadyRedriven."""
    key = {"topic_id": topic_id, "consumer_id": consumer_id, "id": letter}
    if not sql.run((REDRIVE, {**key, "lease_id": uuid7()}))[0]:
        _refuse(topic_id, consumer_id, letter)
    notices.publish(f"consumer:{consumer_id}")


def discard(topic_id: int, consumer_id: int, letter: UUID) -> None:
    """Raises NotFound, AlreadyRedriven (it is out again: its copy is needed)."""
    if not sql.run((DISCARD, {"topic_id": topic_id, "consumer_id": consumer_id, "id": letter}))[0]:
        _refuse(topic_id, consumer_id, letter)


def forget_redriven() -> int:
    """Redriven ones are kept 7 days as a record, longer while their lease is not settled. Bounded."""
    topics = Consumer.objects.values_list("topic_id", flat=True).distinct()
    return sum(len(sql.run((FORGET_REDRIVEN, {"topic_id": topic, "limit": FORGET_BATCH}))[0]) for topic in topics)


def _refuse(topic_id: int, consumer_id: int, letter: UUID) -> None:
    known = DeadLetter.objects.filter(topic_id=topic_id, consumer_id=consumer_id, id=letter, state=Death.REDRIVEN)
    raise AlreadyRedriven() if known.exists() else NotFound("There is no such dead letter.")
