"""What needs somebody: destinations that stand still, queues that do not empty, schedules that cannot fire."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from apps.console.selectors.dead_letters import BEFORE_ALL
from apps.console.selectors.dead_letters import of_destinations as of_groups
from apps.destinations.selectors.standing import Standing
from apps.queues.models import Queue, Schedule
from apps.queues.selectors import Sample
from core.words import age, counted

# Causes of destinations, the most urgent first; what is not here needs nobody.
URGENCY = (
    "disabled",
    "retention_near",
    "target_missing",
    "breaker_open",
    "window_full",
    "too_many_unsettled",
    "held_by_lease",
    "partition_stalled",
    "target_full",
    "target_paused",
    "no_pull",
    "paused",
)
WORST = 4  # so many of them are red
UNCLAIMED_SECONDS = 600
SCHEDULES_LOOKED_AT = 50
GROUPS_LOOKED_AT = 200
DEAD_COUNTED = 100  # letters of an error
BEAT_WRITES_SECONDS = 300
"""Beat writes down what it sent about every three minutes."""


@dataclass(frozen=True)
class Need:
    rank: int
    kind: str
    id: int
    name: str
    text: str
    more: str = ""
    since: datetime | None = None

    @property
    def is_worst(self) -> bool:
        return self.rank < WORST


def of_destinations(found: Iterable[Standing]) -> Iterator[Need]:
    for each in found:
        cause, behind = each.cause, each.status.lag_events
        if cause.code in URGENCY:
            rank, more = URGENCY.index(cause.code), f"{counted(behind, 'event')} behind" if behind else ""
            yield Need(rank, "destination", each.destination.pk, each.destination.name, cause.text, more, cause.since)


def of_queues(queues: Iterable[Queue], samples: dict[int, Sample]) -> Iterator[Need]:
    for queue in queues:
        sample = samples.get(queue.pk)
        ready = f"{counted(sample.ready, 'event')} ready" if sample else ""
        if queue.paused_at is not None:
            yield _of_queue("paused", queue, "paused", ready, queue.paused_at)
        elif sample is not None and sample.ready and sample.oldest_at is not None and _waits(sample.oldest_at):
            text = f"the oldest ready event is not claimed for {age(_seconds(sample.oldest_at))}"
            yield _of_queue("no_pull", queue, text, ready)
        if sample is not None and sample.dead:
            yield _of_queue("held_by_lease", queue, counted(sample.dead, "dead event"))


def _of_queue(like: str, queue: Queue, text: str, more: str = "", since: datetime | None = None) -> Need:
    """As urgent as that cause of a destination."""
    return Need(URGENCY.index(like), "queue", queue.pk, queue.name, text, more, since)


def of_schedules() -> Iterator[Need]:
    broken = Schedule.objects.filter(enabled=True).exclude(error="").order_by("name")[:SCHEDULES_LOOKED_AT]
    for schedule in broken:
        yield Need(URGENCY.index("target_missing"), "schedule", schedule.pk, schedule.name, schedule.error)


def of_dead_letters() -> Iterator[Need]:
    """Of destinations; those of queues stand with their queue."""
    found = sorted(of_groups(BEFORE_ALL, GROUPS_LOOKED_AT, DEAD_COUNTED), key=lambda group: group.home)
    for name, groups in groupby(found, key=lambda group: group.home):
        each = list(groups)
        number, more = (
            sum(group.number for group in each),
            "+" if any(group.number >= DEAD_COUNTED for group in each) else "",
        )
        text = f"{number:,}{more} dead {'letter' if number == 1 else 'letters'}, of {counted(len(each), 'error')}"
        latest = max(each, key=lambda group: group.last_at)
        yield Need(URGENCY.index("held_by_lease"), "dead letters", latest.home_id, name, text, latest.error, latest.last_at)


def of_sweeps() -> Iterator[Need]:
    """What beat has not sent for long, while it lives: somebody switched it off, or it cannot be sent."""
    tasks = PeriodicTask.objects.filter(interval__isnull=False).select_related("interval").order_by("name")
    for task in tasks:
        if not task.enabled:
            yield Need(URGENCY.index("disabled"), "sweep", task.pk, task.name, "switched off")
        elif task.last_run_at is not None and _seconds(task.last_run_at) > _limit(task):
            text = f"overdue: last sent {age(_seconds(task.last_run_at))} ago"
            yield Need(URGENCY.index("disabled"), "sweep", task.pk, task.name, text)


def _limit(task: PeriodicTask) -> float:
    seconds: float = task.interval.schedule.run_every.total_seconds()
    return 3 * seconds + BEAT_WRITES_SECONDS


def _seconds(moment: datetime) -> float:
    return (timezone.now() - moment).total_seconds()


def _waits(moment: datetime) -> bool:
    return _seconds(moment) >= UNCLAIMED_SECONDS
