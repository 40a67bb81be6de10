"""Letting go of cold events: first nobody can read them, a while later their objects go. Who reads is for others to ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from apps.topics.cold import store
from apps.topics.models import DeletedTopic, Topic
from core import sql

EXPIRABLE = sql.statement(__file__, "expirable")
LOCK_COLD = sql.statement(__file__, "lock_cold")
COLD_BOUND = sql.statement(__file__, "cold_bound")
FORGET_SEGMENTS = sql.statement(__file__, "forget_segments")
FORGOTTEN_SEGMENTS = sql.statement(__file__, "forgotten_segments")
DROP_SEGMENTS = sql.statement(__file__, "drop_segments")
LEAVING = sql.statement(__file__, "leaving")
MARK_LEFT = sql.statement(__file__, "mark_left")
FORGET_LEFT = sql.statement(__file__, "forget_left")
KEEP_OBJECTS = sql.statement(__file__, "keep_objects")
MAY_DELETE = sql.statement(__file__, "may_delete")

AT_ONCE = 1_000
GRACE_SECONDS = 600  # whoever was reading a segment when it was forgotten has finished by then


@dataclass(frozen=True)
class Expirable:
    oldest: int
    last_offset: int
    bytes: int
    last_at: datetime


def expirable(topic_id: int, before: datetime) -> dict[int, Sequence[Expirable]]:
    """By partition the oldest segments, in order, whose last event was appended before that time."""
    rows = sql.run((EXPIRABLE, {"topic_id": topic_id, "before": before, "limit": AT_ONCE}))[0]
    return {partition: [Expirable(*row[1:]) for row in each] for partition, each in groupby(rows, key=lambda row: row[0])}


def hold_cold(topic_id: int, partition: int, oldest: int) -> int:
    """Keeps segments from being merged for the rest of the transaction; returns `oldest`, or where the segment begins that
    holds it: one may have been merged since it was looked up."""
    place = {"topic_id": topic_id, "partition": partition}
    sql.run((LOCK_COLD, place))
    rows = sql.run((COLD_BOUND, {**place, "oldest": oldest}))[0]
    return int(rows[0][0]) if rows else oldest


def forget_before(topic_id: int, partition: int, oldest: int) -> int:
    """From now on `oldest` is the first readable offset; returns how many segments that forgot. Under hold_cold."""
    wanted = {"topic_id": topic_id, "partition": partition, "oldest": oldest}
    return len(sql.run((FORGET_SEGMENTS, wanted))[0])


def keep_objects() -> None:
    """For the rest of the transaction no object is deleted: whoever copies the index finds all that it names."""
    sql.run((KEEP_OBJECTS, {}))


def may_delete() -> bool:
    """Nobody copies just now. Who begins later sees an index that has not named for long what is to be deleted."""
    return bool(sql.run((MAY_DELETE, {}))[0][0][0])


def delete_forgotten() -> int:
    """Deletes objects of segments forgotten or merged for the grace period, and orphans. Raises StoreFailed."""
    living = list(Topic.objects.order_by("id").values_list("id", flat=True))
    deleted = list(DeletedTopic.objects.order_by("id").values_list("id", flat=True))
    if not may_delete():
        return 0
    return sum(_delete_in(topic_id) for topic_id in living) + sum(_delete_leaving(topic_id) for topic_id in living + deleted)


def _delete_in(topic_id: int) -> int:
    wanted = {"topic_id": topic_id, "seconds": GRACE_SECONDS, "limit": AT_ONCE}
    rows = sql.run((FORGOTTEN_SEGMENTS, wanted))[0]
    if not rows:
        return 0
    store.delete(*(locator for *_, locator in rows))
    gone = {"partitions": [row[0] for row in rows], "firsts": [row[1] for row in rows]}
    return len(sql.run((DROP_SEGMENTS, {"topic_id": topic_id, **gone}))[0])


def _delete_leaving(topic_id: int) -> int:
    """What was entered in the index just as it was noted stays. A name is kept for as long again, so that who found the
    object there in its last moment cannot enter it any more."""
    grace = {"topic_id": topic_id, "seconds": GRACE_SECONDS}
    sql.run((FORGET_LEFT, grace))
    rows = sql.run((LEAVING, {**grace, "limit": AT_ONCE}))[0]
    if not rows:
        return 0
    partitions, firsts, locators = map(list, zip(*rows, strict=True))
    store.delete(*locators)
    gone = {"partitions": partitions, "firsts": firsts, "locators": locators}
    return len(sql.run((MARK_LEFT, {"topic_id": topic_id, **gone}))[0])
