"""Finds what sweeps missed, from the data alone: puts right what can be, counts it, and says what cannot."""

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import DatabaseError
from django.db.models.functions import Now

from apps.topics.cold import store
from apps.topics.cold.segment import folder
from apps.topics.models import Repair, Sweep, Topic
from apps.topics.operations import spill
from core import errors, sql

DISORDER = sql.statement(__file__, "disorder")
LOCATORS = sql.statement(__file__, "locators")
DELETE_LEFTOVERS = sql.statement(__file__, "delete_leftovers")

ORPHAN_HOURS = 1  # an object without an index row may be one that a sweep is just about to enter
MISSED_SECONDS = 300
LEFTOVERS = 5_000
SHOWN = 20

ORPHAN, LEFTOVER, MISSED = "orphan", "leftover_rows", "missed_sweep"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Standing:
    partition: int
    oldest: int
    hot: int
    first_row: int | None
    cold_first: int | None
    cold_last: int | None
    cold_records: int

    def problem(self) -> str | None:
        """Nothing repairs these: events are not where the bounds say they are."""
        if self.first_row is not None and self.first_row > self.hot:
            return f"partition {self.partition}: rows begin at {self.first_row}, not at {self.hot}"
        if self.cold_records != self.hot - self.oldest:
            return f"partition {self.partition}: {self.cold_records} cold events for offsets {self.oldest} to {self.hot - 1}"
        return None


def reconcile() -> int:
    """Every topic in turn; returns how many repairs. The store's trouble is reported, and is nobody else's."""
    return sum(reconcile_topic(topic) for topic in Topic.objects.order_by("id"))


def reconcile_topic(topic: Topic) -> int:
    before = Repair.objects.filter(topic_id=topic.id).count()
    standings = [Standing(*row) for row in sql.run((DISORDER, {"topic_id": topic.id}))[0]]
    problems = [found for standing in standings if (found := standing.problem())]
    try:
        for standing in standings:
            _remove_leftovers(topic, standing)
        problems += _compare_with_store(topic)
        _make_up_for_missed_sweep(topic)
    except (errors.DomainError, DatabaseError) as error:
        problems.append(str(error).split("\n")[0])
    if problems:
        logger.error("topics.problems", extra={"topic": topic.name, "problems": problems[:SHOWN]})
    Sweep.objects.update_or_create(topic_id=topic.id, defaults={"problems": problems[:SHOWN], "reconciled_at": Now()})
    return Repair.objects.filter(topic_id=topic.id).count() - before


def _remove_leftovers(topic: Topic, standing: Standing) -> None:
    if standing.first_row is None or standing.first_row >= standing.hot:
        return
    wanted = {"topic_id": topic.id, "partition": standing.partition, "first": standing.first_row, "limit": LEFTOVERS}
    if removed := len(sql.run((DELETE_LEFTOVERS, wanted))[0]):
        _note(topic, LEFTOVER, f"{removed} rows from {standing.first_row} on", standing.partition)


def _compare_with_store(topic: Topic) -> list[str]:
    """Deletes objects that no index row names; returns what the index names and the store has not."""
    # Listed first: an object written after that is not taken for an orphan, nor its index row for one without an object.
    found = dict(store.listed(folder(str(topic.uid))))
    named: dict[str, bool] = dict(sql.run((LOCATORS, {"topic_id": topic.id}))[0])
    settled = datetime.now(UTC) - timedelta(hours=ORPHAN_HOURS)
    for name in [name for name, written in found.items() if name not in named and written < settled]:
        store.delete(name)
        _note(topic, ORPHAN, name)
    missing = [name for name, readable in named.items() if readable and name not in found]
    return [f"object missing: {name}" for name in missing if not _is_there(name)]


def _is_there(name: str) -> bool:
    try:
        store.get(name)
    except store.Missing:
        return False
    return True


def _make_up_for_missed_sweep(topic: Topic) -> None:
    """Whether one is due is seen in the rows; whether one came by, in when the last did: no flag that could be left set."""
    late = datetime.now(UTC) - timedelta(seconds=MISSED_SECONDS)
    if Sweep.objects.filter(topic_id=topic.id, swept_at__gte=late).exists():
        return
    if any(spill.is_due(topic, hot) for hot in spill.plan(topic)) and (moved := spill.sweep_topic(topic)):
        _note(topic, MISSED, f"{moved} events moved")


def _note(topic: Topic, kind: str, detail: str, partition: int | None = None) -> None:
    logger.warning("topics.repaired", extra={"topic": topic.name, "kind": kind, "detail": detail})
    Repair.objects.create(topic_id=topic.id, kind=kind, detail=detail, partition=partition)
