"""From the hot window to cold storage, a segment at a time: written, read back, then indexed and deleted in one transaction.

A crash anywhere loses nothing and repeats harmlessly: an object that no index row names is an orphan for the reconcile.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from apps.topics.cold import segment, store
from apps.topics.cold.segment import LogRow, Written
from apps.topics.cold.windows import MAX_BYTES, MAX_RECORDS
from apps.topics.models import Sweep, Topic
from core import errors, sql
from core.notes import storable

SPILL_PLAN = sql.statement(__file__, "spill_plan")
SPILL_READ = sql.statement(__file__, "spill_read")
DELETE_SPILLED = sql.statement(__file__, "delete_spilled")
INDEX_SEGMENT = sql.statement(__file__, "index_segment")

# MAX_RECORDS are deleted in one transaction in 35 ms.
SEGMENTS_A_SWEEP = 50  # of one partition
# A busy partition must not write a tiny object every sweep: it waits until this part of a bound is over, or that much.
SLACK = 10
SLACK_RECORDS, SLACK_BYTES, SLACK_SECONDS = 5_000, 4 * 1024 * 1024, 3_600
# What was read back longer ago may have been taken for an orphan and deleted since: half of what its name is kept for.
TRUSTED_SECONDS = 300

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Hot:
    partition: int
    hot_offset: int
    records: int
    bytes: int
    age: float


def sweep() -> int:
    """Trims every topic to its hot bounds, one after the other; returns how many events went to cold storage.

    A topic that fails is reported as failing and left as it is; the others go on.
    """
    return sum(sweep_topic(topic) for topic in Topic.objects.order_by("id"))


def sweep_topic(topic: Topic) -> int:
    moved = 0
    try:
        for hot in plan(topic):
            if is_due(topic, hot):
                moved += _trim(topic, hot.partition)
    except (errors.DomainError, DatabaseError) as error:
        logger.warning("topics.sweep_failed", extra={"topic": topic.name, "reason": str(error).split("\n")[0]})
        _report(topic, str(error))
    else:
        _report(topic, "")
    return moved


def plan(topic: Topic) -> list[Hot]:
    """What is hot in each partition that holds anything hot."""
    return [Hot(*row) for row in sql.run((SPILL_PLAN, {"topic_id": topic.id}))[0]]


def is_due(topic: Topic, hot: Hot) -> bool:
    """Over one of the bounds by enough to be worth an object."""
    return (
        hot.records - topic.hot_records >= max(1, min(SLACK_RECORDS, topic.hot_records // SLACK))
        or hot.bytes - topic.hot_bytes >= max(1, min(SLACK_BYTES, topic.hot_bytes // SLACK))
        or hot.age > topic.hot_seconds + min(SLACK_SECONDS, topic.hot_seconds / SLACK)
    )


def _trim(topic: Topic, partition: int) -> int:
    moved = 0
    for _ in range(SEGMENTS_A_SWEEP):
        rows = read_over(topic, partition)
        if not rows or not commit(topic, partition, rows, put(topic, partition, rows)):
            break
        moved += len(rows)
        if len(rows) < MAX_RECORDS and rows[-1].total_bytes - rows[0].total_bytes < MAX_BYTES // 2:
            break
    return moved


def read_over(topic: Topic, partition: int) -> list[LogRow]:
    """The next segment's worth of what is over the bounds; empty: nothing is."""
    bounds = {"hot_records": topic.hot_records, "hot_bytes": topic.hot_bytes, "hot_seconds": topic.hot_seconds}
    wanted = {"topic_id": topic.id, "partition": partition, "limit": MAX_RECORDS, "max_bytes": MAX_BYTES, **bounds}
    return [LogRow(*row) for row in sql.run((SPILL_READ, wanted))[0]]


def put(topic: Topic, partition: int, rows: Sequence[LogRow]) -> Written:
    """In the store, and read back. Raises StoreFailed."""
    written = segment.written(str(topic.uid), topic.name, partition, rows)
    store.put_if_absent(written.name, written.content)
    return written


def commit(topic: Topic, partition: int, rows: Sequence[LogRow], written: Written) -> bool:
    """Index and delete together, or neither: False when another spill was first, or the object is not to be trusted."""
    if not is_trusted(written):
        return False
    first, last = rows[0], rows[-1]
    place = {"topic_id": topic.id, "partition": partition, "first_offset": first.offset, "last_offset": last.offset}
    entry = {
        "first_at": first.appended_at,
        "last_at": last.appended_at,
        "total_bytes": last.total_bytes,
        "records": len(rows),
        "raw_bytes": sum(len(row.body) for row in rows),
        "bytes": len(written.content),
        "sha256": written.sha256,
        "locator": written.name,
    }
    with transaction.atomic():
        deleted = sql.run((DELETE_SPILLED, place))[0]
        is_first = len(deleted) == len(rows) and bool(sql.run((INDEX_SEGMENT, {**place, **entry}))[0])
        if not is_first:
            transaction.set_rollback(True)
    return is_first


def is_trusted(written: Written) -> bool:
    return time.monotonic() - written.made_at < TRUSTED_SECONDS


def _report(topic: Topic, error: str) -> None:
    sweep, _ = Sweep.objects.get_or_create(topic_id=topic.id)
    sweep.swept_at = Now()
    sweep.error = storable(error)
    sweep.failures = sweep.failures + 1 if error else 0
    if not error:
        sweep.succeeded_at = Now()
    sweep.save()
