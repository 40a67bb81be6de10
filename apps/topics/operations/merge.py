"""Small neighbouring segments become one: sources verified, the object written and read back, then the index swapped.

A crash anywhere loses nothing: before the swap the sources are what is read, after it they are noted as leaving. Readers
that found them in the index have the grace period to finish.
"""

import logging
import time
from collections.abc import Sequence
from itertools import groupby

from django.db import DatabaseError, transaction
from django.db.models import F
from django.db.models.functions import Now

from apps.topics.cold import segment, store
from apps.topics.cold.segment import Segment, Written
from apps.topics.cold.windows import Small, windows
from apps.topics.models import Sweep, Topic
from apps.topics.operations.expire import LOCK_COLD
from apps.topics.operations.spill import is_trusted
from core import errors, sql
from core.notes import storable

SMALL_SEGMENTS = sql.statement(__file__, "small_segments")
REMOVE_MERGED = sql.statement(__file__, "remove_merged")
INDEX_MERGED = sql.statement(__file__, "index_merged")

LOOKED_AT = 200  # of a partition, the latest
MERGES_A_RUN = 50  # of a topic
SECONDS_A_RUN = 120
FAILURES_A_RUN = 3

logger = logging.getLogger(__name__)


def merge() -> int:
    """Every topic in turn, those first that were looked at longest ago; returns how many segments became part of another."""
    until, merged = time.monotonic() + SECONDS_A_RUN, 0
    for topic in Topic.objects.order_by(F("sweep__merged_at").asc(nulls_first=True), "id"):
        if time.monotonic() > until:
            break
        try:
            merged += merge_topic(topic)
        except DatabaseError as error:  # it was deleted meanwhile, or there is no database: the next run will see
            logger.warning("topics.merge_failed", extra={"topic": topic.name, "reason": str(error).split("\n")[0]})
    return merged


def merge_topic(topic: Topic) -> int:
    merged, failures = 0, []
    for window in _found(topic)[:MERGES_A_RUN]:
        try:
            merged += len(window) if swap(topic, window, put(topic, window)) else 0
        except (errors.DomainError, DatabaseError) as error:
            failures.append(str(error).split("\n")[0])
        if len(failures) == FAILURES_A_RUN:
            break
    if failures:
        logger.warning("topics.merge_failed", extra={"topic": topic.name, "reason": failures[0]})
    _report(topic, merged, failures)
    return merged


def _found(topic: Topic) -> list[Sequence[Small]]:
    rows = sql.run((SMALL_SEGMENTS, {"topic_id": topic.id, "limit": LOOKED_AT}))[0]
    parts = groupby((Small(*row) for row in rows), key=lambda small: small.partition)
    return [window for _, small in parts for window in windows(list(small), topic.cold_seconds)]


def put(topic: Topic, window: Sequence[Small]) -> Written:
    """The merged object, in the store and read back. Raises StoreFailed, and Unavailable for a damaged source."""
    sources = [Segment(store.get(each.locator), each.sha256, each.first_offset, each.records) for each in window]
    written = segment.merged(str(topic.uid), topic.name, window[0].partition, sources)
    store.put_if_absent(written.name, written.content)
    return written


def swap(topic: Topic, window: Sequence[Small], written: Written) -> bool:
    """All in one transaction, or nothing: False when a source is not what it was, or the object is not to be trusted."""
    place = {"topic_id": topic.id, "partition": window[0].partition}
    gone = {"firsts": [each.first_offset for each in window], "locators": [each.locator for each in window]}
    if not is_trusted(written):
        return False
    with transaction.atomic():
        sql.run((LOCK_COLD, place))
        removed = sql.run((REMOVE_MERGED, {**place, **gone}))[0]
        is_swapped = len(removed) == len(window) and bool(sql.run((INDEX_MERGED, {**place, **_entry(window, written)}))[0])
        if not is_swapped:
            transaction.set_rollback(True)
    return is_swapped


def _entry(window: Sequence[Small], written: Written) -> dict[str, object]:
    return {
        "first_offset": window[0].first_offset,
        "last_offset": window[-1].last_offset,
        "first_at": window[0].first_at,
        "last_at": window[-1].last_at,
        "records": sum(each.records for each in window),
        "raw_bytes": sum(each.raw_bytes for each in window),
        "bytes": len(written.content),
        "sha256": written.sha256,
        "locator": written.name,
    }


def _report(topic: Topic, merged: int, failures: Sequence[str]) -> None:
    Sweep.objects.get_or_create(topic_id=topic.id)
    error = storable(failures[0]) if failures else ""
    Sweep.objects.filter(topic_id=topic.id).update(
        merged_at=Now(), merged_segments=F("merged_segments") + merged, merge_error=error
    )
