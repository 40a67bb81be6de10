"""Finds what sweeps missed, from the data alone: puts right what can be, counts it, and says what cannot."""

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import DatabaseError
from django.db.models.functions import Now

from apps.topics.cold import store
from apps.topics.cold.segment import folder, place
from apps.topics.models import DeletedTopic, Repair, Sweep, Topic
from apps.topics.operations import spill
from core import errors, sql

DISORDER = sql.statement(__file__, "disorder")
LOCATORS = sql.statement(__file__, "locators")
DELETE_LEFTOVERS = sql.statement(__file__, "delete_leftovers")
CONDEMN = sql.statement(__file__, "condemn")

ORPHAN_HOURS = 1  # an object without an index row may be one that a sweep is just about to enter
DELETED_HOURS = 2  # after its rows are gone nothing is written for a topic any more, and what was is an orphan by then
DELETED_A_RUN = 50
MISSED_SECONDS = 300
LEFTOVERS = 5_000
SHOWN = 20

ORPHAN, UNFINISHED, LEFTOVER, MISSED = "orphan", "unfinished_write", "leftover_rows", "missed_sweep"

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
    repairs = sum(reconcile_topic(topic) for topic in Topic.objects.order_by("id"))
    try:
        store.remove_probes(_long_ago())
        return repairs + _reconcile_deleted()
    except errors.DomainError as error:
        logger.error("topics.problems", extra={"topic": "", "problems": [error.message]})
        return repairs


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
        _note(topic.id, topic.name, LEFTOVER, f"{removed} rows from {standing.first_row} on", standing.partition)


def _compare_with_store(topic: Topic) -> list[str]:
    """Notes objects that no index row names as leaving; returns what the index names and the store has not."""
    # Listed first: an object written after that is not taken for an orphan, nor its index row for one without an object.
    found = dict(store.listed(folder(str(topic.uid))))
    named: dict[str, bool] = dict(sql.run((LOCATORS, {"topic_id": topic.id}))[0])
    for name in store.remove_unfinished(folder(str(topic.uid)), _long_ago()):
        _note(topic.id, topic.name, UNFINISHED, name)
    _condemn(topic.id, topic.name, [name for name in _settled(found) if name not in named])
    missing = [name for name, readable in named.items() if readable and name not in found]
    return [f"object missing: {name}" for name in missing if not _is_there(name)]


def _settled(found: dict[str, datetime]) -> list[str]:
    before = _long_ago()
    return [name for name, written in found.items() if written < before]


def _long_ago() -> datetime:
    return datetime.now(UTC) - timedelta(hours=ORPHAN_HOURS)


def _condemn(topic_id: int, topic_name: str, orphans: list[str]) -> int:
    """They are deleted after a grace period, and until after that no sweep can enter them in the index: one that was
    killed before that comes back to its object after hours, and finds it there. Returns how many are new."""
    if not orphans:
        return 0
    places = [place(name) for name in orphans]
    wanted = {"partitions": [found for found, _ in places], "firsts": [first for _, first in places], "locators": orphans}
    condemned = sql.run((CONDEMN, {"topic_id": topic_id, **wanted}))[0]
    for partition, name in condemned:
        _note(topic_id, topic_name, ORPHAN, name, None if partition < 0 else partition)
    return len(condemned)


def _reconcile_deleted() -> int:
    """Deleted topics whose rows are gone: what is still in their folder is nobody's. A topic made again under the name has
    a folder of its own."""
    repairs = 0
    since = datetime.now(UTC) - timedelta(hours=DELETED_HOURS)
    for topic in DeletedTopic.objects.filter(removed_at__lt=since).order_by("removed_at", "id")[:DELETED_A_RUN]:
        found = {} if topic.uid is None else dict(store.listed(folder(str(topic.uid))))
        store.remove_unfinished(folder(str(topic.uid)), _long_ago())
        known: dict[str, bool] = dict(sql.run((LOCATORS, {"topic_id": topic.id}))[0])
        repairs += _condemn(topic.id, topic.name, [name for name in _settled(found) if name not in known])
        if not found and not known:
            topic.delete()
    return repairs


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
        _note(topic.id, topic.name, MISSED, f"{moved} events moved")


def _note(topic_id: int, topic: str, kind: str, detail: str, partition: int | None = None) -> None:
    logger.warning("topics.repaired", extra={"topic": topic, "kind": kind, "detail": detail})
    Repair.objects.create(topic_id=topic_id, kind=kind, detail=detail, partition=partition)
