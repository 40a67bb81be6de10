"""Retention of cold events: what a reader has not read is protected within bounds, or goes and is written down."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models.functions import Now

from apps.access import audit
from apps.cursors import operations as cursors
from apps.cursors.models import Kind
from apps.topics.models import OnLag, Topic
from apps.topics.operations.expire import Expirable, expirable, forget_before, hold_cold
from apps.topics.selectors.log import oldest_offset
from core import notices, sql
from core.clock import rfc3339

IN_THE_WAY = sql.statement(__file__, "in_the_way")
LOCK_READERS = sql.statement(__file__, "lock_readers")
PASS_READERS = sql.statement(__file__, "pass_readers")
FORGET_OLD_SKIPPED = sql.statement(__file__, "forget_old_skipped")

SKIPPED_DAYS = 400


def retain() -> int:
    """Lets go of cold events past each topic's replay window, as its policy allows; returns how many segments."""
    topics = Topic.objects.filter(cold_seconds__isnull=False).annotate(now=Now()).order_by("id")
    return sum(_retain(topic, topic.now) for topic in topics)


def expire_cold(actor: audit.Actor, topic: Topic, before: datetime) -> int:
    """Whole segments whose last event is older go, whoever has not read them: an operator decides that. On record."""
    with transaction.atomic():
        for partition in range(topic.partitions):
            hold_cold(topic.id, partition, 0)
        found = expirable(topic.id, before)
        ends = {partition: segments[-1].last_offset + 1 for partition, segments in found.items()}
        forgotten = sum(let_go(topic.id, partition, found[partition][0].oldest, end) for partition, end in ends.items())
        audit.record(
            actor, "expire-cold", "topic", topic.name,
            object_id=topic.uid, after={"before": rfc3339(before), "segments": forgotten, "oldest": ends},
        )  # fmt: skip
    return forgotten


def _retain(topic: Topic, now: datetime) -> int:
    assert topic.cold_seconds is not None
    forgotten = 0
    for partition, segments in expirable(topic.id, now - timedelta(seconds=topic.cold_seconds)).items():
        end = _end(topic, partition, segments, now)
        if end is not None:
            forgotten += let_go(topic.id, partition, segments[0].oldest, end)
    return forgotten


def _end(topic: Topic, partition: int, segments: Sequence[Expirable], now: datetime) -> int | None:
    """The offset before which everything goes; None: nothing does."""
    end = segments[-1].last_offset + 1
    readers = sql.run((IN_THE_WAY, {"topic_id": topic.id, "partition": partition, "offset": end}))[0]
    if not readers or topic.on_lag == OnLag.EXPIRE:
        return end
    read = min(unsettled for *_, unsettled in readers)
    assert topic.cold_seconds is not None
    protected_since = now - timedelta(seconds=topic.cold_seconds + topic.protect_seconds)
    kept = sum(segment.bytes for segment in segments)
    found = None
    for segment in segments:
        # In bytes and in time alike protection is bounded: one forgotten reader must not fill the store.
        if segment.last_offset >= read and segment.last_at >= protected_since and kept <= topic.protect_bytes:
            break
        found, kept = segment.last_offset + 1, kept - segment.bytes
    return found


def forget_skipped() -> int:
    """What readers lost more than a year ago is not listed any more. Topic by topic; returns how many ranges."""
    wanted = [{"topic_id": topic_id, "days": SKIPPED_DAYS} for topic_id in Topic.objects.values_list("id", flat=True)]
    return sum(len(sql.run((FORGET_OLD_SKIPPED, each))[0]) for each in wanted)


def catch_up(topic_id: int, partition: int) -> bool:
    """Moves on readers that stand before the oldest offset (a seek may have put them there meanwhile); whether any did."""
    oldest = oldest_offset(topic_id, partition)
    readers = sql.run((IN_THE_WAY, {"topic_id": topic_id, "partition": partition, "offset": oldest}))[0]
    if not any(kind == Kind.DESTINATION for _, kind, _ in readers):
        return False
    let_go(topic_id, partition, 0, oldest)
    return True


@transaction.atomic
def let_go(topic_id: int, partition: int, before: int, oldest: int) -> int:
    """Makes `oldest` the first readable offset (it was `before`); readers behind it are moved on and told."""
    wanted, oldest = oldest, hold_cold(topic_id, partition, oldest)
    if oldest < wanted and oldest <= before:
        return 0  # all of it is in one segment now with what is to stay
    place = {"topic_id": topic_id, "partition": partition}
    readers = sql.run((IN_THE_WAY, {**place, "offset": oldest}))[0]
    if readers:
        consumers = {"consumers": [consumer for consumer, *_ in readers]}
        passed = sql.run(
            (LOCK_READERS, {"topic_id": topic_id, **consumers}),
            (PASS_READERS, {**place, **consumers, "before": before, "oldest": oldest}),
        )[1]
        skipped = [consumer for (consumer,) in passed]
        cursors.mark_skipped(topic_id, skipped)
        for consumer in skipped:
            notices.publish(f"consumer:{consumer}")
    return forget_before(topic_id, partition, oldest)
