"""Why a destination stands where it stands: one state and one cause, the most urgent first. Pure: decides on a Status."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from apps.destinations.selectors.status import PartitionStatus, Status
from core import words
from core.sequence import sequence

NO_PULL_SECONDS = 60
HELD_SECONDS = 60
STALLED_SECONDS = 60
NEAR_SHARE = 0.1

ACTIVE, PAUSED, HELD, DISABLED = "active", "paused", "held", "disabled"
STATES = (ACTIVE, PAUSED, HELD, DISABLED)


@dataclass(frozen=True)
class Cause:
    state: str
    code: str
    text: str
    since: datetime | None
    """None: not known."""


def cause_of(status: Status) -> Cause:
    return next(cause for rule in RULES if (cause := rule(status)) is not None)


def _disabled(status: Status) -> Cause | None:
    if status.disabled_at is None:
        return None
    return Cause(DISABLED, "disabled", f"disabled: {status.disabled_reason or 'no reason given'}", status.disabled_at)


def _paused(status: Status) -> Cause | None:
    if not status.paused:
        return None
    by = f" by {status.paused_by}" if status.paused_by else ""
    until = f" until {_time(status.resume_at, status.as_of)}" if status.resume_at else ""
    reason = f": {status.pause_reason}" if status.pause_reason else ""
    return Cause(PAUSED, "paused", f"paused{by}{until}{reason}", status.paused_at)


def _retention_near(status: Status) -> Cause | None:
    """Said above all else that can still be helped: what retention takes no resume and no worker brings back."""
    near = [(left, each.partition) for each in status.partitions if (left := _left(each)) is not None]
    if not near:
        return None
    left, partition = min(near)
    text = f"retention reaches unread events of partition {partition} in {words.age(left)}"
    return Cause(PAUSED if status.paused else ACTIVE, "retention_near", text, None)


def _left(partition: PartitionStatus) -> float | None:
    """Seconds, where little of the window is left."""
    left, window = partition.retention_reaches_in, partition.retained_seconds
    return left if left is not None and window is not None and left <= window * NEAR_SHARE else None


def _caught_up(status: Status) -> Cause | None:
    return Cause(ACTIVE, "caught_up", "caught up", None) if status.lag_events == 0 else None


def _held_by_target(status: Status) -> Cause | None:
    """As the forwarder found it when it last wanted to push."""
    if status.held_code is None:
        return None
    return Cause(HELD, status.held_code, status.held_text or status.held_code, status.held_since)


def _window_full(status: Status) -> Cause | None:
    if status.in_flight < status.window:
        return None
    text = f"window full: {status.in_flight:,} of {status.window:,} leased"
    return Cause(HELD, "window_full", text, status.handed_at)


def _too_many_unsettled(status: Status) -> Cause | None:
    if status.in_flight + status.waiting < status.max_unsettled:
        return None
    leased = f"{status.in_flight:,} leased, {status.waiting:,} waiting (limit {status.max_unsettled:,})"
    return Cause(HELD, "too_many_unsettled", f"too many unsettled: {leased}", status.handed_at)


def _no_pull(status: Status) -> Cause | None:
    """Nobody works and nobody comes: more to the point than what a batch left behind does to the cursor."""
    since = status.pulled_at or status.created_at
    idle = (status.as_of - since).total_seconds()
    if status.in_flight > 0 or (idle < NO_PULL_SECONDS and status.pulled_at is not None):
        return None
    text = f"no pull for {words.age(idle)}" if status.pulled_at else "no pull yet"
    return Cause(ACTIVE, "no_pull", text, since)


def _held_by_lease(status: Status) -> Cause | None:
    """A batch that comes back again and again, or is slower than all that came after it, keeps the cursor where it is."""
    held = [partition for partition in status.partitions if _holds(partition, status.as_of)]
    if not held or status.ordering == "partition":
        return None
    worst = min(held, key=_leased_at)
    lease = worst.oldest_lease
    assert lease is not None
    where = sequence(worst.partition, worst.unsettled)
    worker = f" of {lease.worker}" if lease.worker else ""
    text = f"cursor held at {where} by lease {lease.id}{worker}, attempt {lease.attempt}"
    return Cause(HELD, "held_by_lease", text, lease.leased_at)


def _holds(partition: PartitionStatus, as_of: datetime) -> bool:
    lease = partition.oldest_lease
    if lease is None or (as_of - lease.leased_at).total_seconds() < HELD_SECONDS:
        return False
    later_is_settled = partition.spanned < partition.position - partition.unsettled
    return lease.attempt > 1 or later_is_settled


def _partition_stalled(status: Status) -> Cause | None:
    """Workers come by, but a partition with something to do gets nowhere."""
    patience = _patience(status)
    stalled = [since for partition in status.partitions if (since := _stalled_since(partition, status, patience))]
    if not stalled:
        return None
    text = f"{len(stalled)} of {words.counted(len(status.partitions), 'partition')} stalled"
    return Cause(HELD, "partition_stalled", text, min(stalled))


def _patience(status: Status) -> float:
    """Seconds that a partition may wait: they are served in turn, and where workers are slow a turn takes long."""
    ready = [each for each in status.partitions if each.position < each.head]
    served = [each.served_at for each in status.partitions if each.served_at is not None]
    lately = sum((status.as_of - at).total_seconds() < STALLED_SECONDS for at in served)
    return STALLED_SECONDS * max(1.0, 2 * len(ready) / lately) if lately else STALLED_SECONDS


def _stalled_since(partition: PartitionStatus, status: Status, patience: float) -> datetime | None:
    """None: it is not stalled."""
    if partition.lag_events == 0:
        return None
    if partition.oldest_lease is not None:
        return partition.oldest_lease.leased_at if _holds(partition, status.as_of) else None
    since = _passed_over_since(partition, status)
    return since if since is not None and (status.as_of - since).total_seconds() >= patience else None


def _passed_over_since(partition: PartitionStatus, status: Status) -> datetime | None:
    """Since it was served, but not before there was something to serve, nor before workers came by who could have had it."""
    if status.seen_since is None:
        return None
    age = partition.age if partition.age is not None else 0.0
    appended = datetime.fromtimestamp(status.as_of.timestamp() - age, UTC)
    return max(partition.served_at or appended, appended, status.seen_since)


def _leased_at(partition: PartitionStatus) -> datetime:
    assert partition.oldest_lease is not None
    return partition.oldest_lease.leased_at


def _delivering(status: Status) -> Cause:
    return Cause(ACTIVE, "delivering", f"delivering, {words.counted(status.lag_events, 'event')} behind", None)


def _time(moment: datetime, as_of: datetime) -> str:
    """The hour alone when it is today's."""
    return f"{moment:%H:%M} UTC" if moment.date() == as_of.date() else f"{moment:%Y-%m-%d %H:%M} UTC"


RULES: tuple[Callable[[Status], Cause | None], ...] = (
    _disabled,
    _retention_near,
    _paused,
    _caught_up,
    _held_by_target,
    _window_full,
    _too_many_unsettled,
    _no_pull,
    _held_by_lease,
    _partition_stalled,
    _delivering,
)
