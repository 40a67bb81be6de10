"""Letting go of cold events: first nobody can read them, a while later their objects go. Who reads is for others to ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from apps.topics.cold import store
from apps.topics.models import Topic
from core import sql

EXPIRABLE = sql.statement(__file__, "expirable")
FORGET_SEGMENTS = sql.statement(__file__, "forget_segments")
FORGOTTEN_SEGMENTS = sql.statement(__file__, "forgotten_segments")
DROP_SEGMENTS = sql.statement(__file__, "drop_segments")

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


def forget_before(topic_id: int, partition: int, oldest: int) -> int:
    """From now on `oldest` is the first readable offset; returns how many segments that forgot."""
    wanted = {"topic_id": topic_id, "partition": partition, "oldest": oldest}
    return len(sql.run((FORGET_SEGMENTS, wanted))[0])


def delete_forgotten() -> int:
    """Deletes objects of segments forgotten for the grace period, then their index rows. Raises StoreFailed."""
    return sum(_delete_in(topic_id) for topic_id in Topic.objects.order_by("id").values_list("id", flat=True))


def _delete_in(topic_id: int) -> int:
    wanted = {"topic_id": topic_id, "seconds": GRACE_SECONDS, "limit": AT_ONCE}
    rows = sql.run((FORGOTTEN_SEGMENTS, wanted))[0]
    if not rows:
        return 0
    store.delete(*(locator for *_, locator in rows))
    gone = {"partitions": [row[0] for row in rows], "firsts": [row[1] for row in rows]}
    return len(sql.run((DROP_SEGMENTS, {"topic_id": topic_id, **gone}))[0])
