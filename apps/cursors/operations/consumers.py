"""Consumers come, change and go. Whoever may pull after a change is woken; who changed it is the caller's to record."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from apps.cursors.models import Consumer, Kind, Ordering
from apps.cursors.selectors.places import Place, positions
from core import notices, sql
from core.errors import NotFound

CREATE_CURSORS = sql.statement(__file__, "create_cursors")
DELETE_CURSORS = sql.statement(__file__, "delete_cursors")
LOCK_CONSUMER = sql.statement(__file__, "lock_consumer")
MARK_SKIPPED = sql.statement(__file__, "mark_skipped")
NEXT_CONSUMER_ID = sql.statement(__file__, "next_consumer_id")
TELL_SKIPPED = sql.statement(__file__, "tell_skipped")


@dataclass(frozen=True)
class Filter:
    """All given must match. In types `*` stands for any run of characters."""

    types: Sequence[str] | None = None
    subject_prefix: str | None = None
    source_prefix: str | None = None

    def columns(self) -> dict[str, Any]:
        return {
            "types": list(self.types) if self.types else None,
            "type_patterns": [like(glob) for glob in self.types] if self.types else None,
            "subject_prefix": self.subject_prefix or None,
            "source_prefix": self.source_prefix or None,
        }


@dataclass(frozen=True)
class Limits:
    window_size: int = 1_000
    max_unsettled: int = 10_000
    max_deliveries: int = 0
    ordering: str = Ordering.NONE
    retry_backoff: bool = False


def like(glob: str) -> str:
    """A glob as a LIKE pattern."""
    return glob.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")


@transaction.atomic
def create_consumer(
    topic_id: int,
    kind: Kind,
    name: str,
    *,
    start: Place = "head",
    limits: Limits = Limits(),
    chosen: Filter = Filter(),
) -> int:
    """The number of the new consumer, at `start` (partitions that sequences leave out: at the head).

    Raises OutOfLog naming the field startAt.
    """
    consumer_id: int = sql.run((NEXT_CONSUMER_ID, {}))[0][0][0]
    starts = {**positions(topic_id, "head", "startAt"), **positions(topic_id, start, "startAt")}
    Consumer.objects.create(
        topic_id=topic_id, consumer_id=consumer_id, kind=kind, name=name, **asdict(limits), **chosen.columns()
    )
    places = {"partitions": list(starts), "positions": list(starts.values())}
    sql.run((CREATE_CURSORS, {"topic_id": topic_id, "consumer_id": consumer_id, **places}))
    return consumer_id


@transaction.atomic
def delete_consumer(topic_id: int, consumer_id: int) -> None:
    """Its leases must be ended first (apps.leases.operations.tidy.delete_consumer does both)."""
    sql.run((DELETE_CURSORS, {"topic_id": topic_id, "consumer_id": consumer_id}))
    Consumer.objects.filter(topic_id=topic_id, consumer_id=consumer_id).delete()


def change(topic_id: int, consumer_id: int, *, chosen: Filter | None = None, **limits: Any) -> None:
    """New limits or a new filter, from the next pull on; leases that are out keep the events they have."""
    _update(topic_id, consumer_id, **limits, **({} if chosen is None else chosen.columns()))


def pause(topic_id: int, consumer_id: int, *, by: str, reason: str | None = None, resume_at: datetime | None = None) -> None:
    """From now on nothing is handed out, redeliveries included; paused twice, the newer reason and end stand."""
    _update(topic_id, consumer_id, paused_at=Now(), pause_reason=reason, paused_by=by, resume_at=resume_at)


def resume(topic_id: int, consumer_id: int) -> None:
    """Ends a pause, and the state a push destination gets into when it is switched off for failing."""
    ended = dict.fromkeys(("paused_at", "pause_reason", "paused_by", "resume_at", "disabled_at", "disabled_reason"))
    _update(topic_id, consumer_id, **ended)


def disable(topic_id: int, consumer_id: int, reason: str) -> None:
    _update(topic_id, consumer_id, disabled_at=Now(), disabled_reason=reason)


def tell_skipped(topic_id: int, consumer_id: int) -> list[tuple[int, int, int]]:
    """(partition, from, to) of what retention took unread; said once, to the worker that is given the next batch."""
    consumer = {"topic_id": topic_id, "consumer_id": consumer_id}
    return [(row[0], row[1], row[2]) for row in sql.run((LOCK_CONSUMER, consumer), (TELL_SKIPPED, consumer))[1]]


def _update(topic_id: int, consumer_id: int, **columns: Any) -> None:
    """The update waits for a pull in flight, and pulls wait for it: both want the row."""
    chosen = Consumer.objects.filter(topic_id=topic_id, consumer_id=consumer_id)
    if not chosen.update(**columns, updated_at=Now()):
        raise NotFound()
    notices.publish(f"consumer:{consumer_id}")


def mark_skipped(topic_id: int, consumers: Sequence[int]) -> None:
    """Retention went past them: the next batch of each tells. The caller holds their locks."""
    sql.run((MARK_SKIPPED, {"topic_id": topic_id, "consumers": list(consumers)}))
