"""Lag over time: a sample every 15 s for a day, then one every five minutes until its day partition is dropped."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from apps.cursors.models import Consumer, Kind
from apps.destinations.operations.sight import forget_workers
from apps.destinations.selectors.cause import cause_of
from apps.destinations.selectors.status import Status, statuses
from core import sql
from core.exclusive import alone

RECORD_LAG = sql.statement(__file__, "record_lag")
THIN_LAG = sql.statement(__file__, "thin_lag")

CHUNK = 200

Key = tuple[int, int]


def sample_lag() -> int:
    """Takes a sample of every consumer, groups too; returns how many. Another one at it: none."""
    with alone("destinations.sample") as is_alone:
        return sum(_record(chunk) for chunk in _chunks()) if is_alone else 0


def thin_samples() -> int:
    """Thins what is older than a day and forgets workers not seen for one; returns how many rows went."""
    with alone("destinations.thin") as is_alone:
        return sum(_thin([key for key, _ in chunk]) for chunk in _chunks()) + forget_workers() if is_alone else 0


def _chunks() -> Iterator[list[tuple[Key, str]]]:
    """Bounded, since each chunk is one array of a statement."""
    rows: Iterable[tuple[int, int, str]] = Consumer.objects.order_by("topic_id", "consumer_id").values_list(
        "topic_id", "consumer_id", "kind"
    )
    keys = iter([((topic, consumer), kind) for topic, consumer, kind in rows])
    while chunk := list(islice(keys, CHUNK)):
        yield chunk


def _record(chunk: Sequence[tuple[Key, str]]) -> int:
    groups = {key for key, kind in chunk if kind == Kind.GROUP}
    found = statuses(key for key, _ in chunk)
    causes = {key: None if key in groups else cause_of(status) for key, status in found.items()}
    columns = {
        **_keys(found),
        **_figures(list(found.values())),
        "states": [cause and cause.state for cause in causes.values()],
        "causes": [cause and cause.code for cause in causes.values()],
    }
    return len(sql.run((RECORD_LAG, columns))[0])


def _figures(found: Sequence[Status]) -> dict[str, list[int] | list[float | None]]:
    return {
        "lag_events": [status.lag_events for status in found],
        "lag_seconds": [status.lag_seconds for status in found],
        "in_flight": [status.in_flight for status in found],
        "waiting": [status.waiting for status in found],
        "heads": [sum(partition.head for partition in status.partitions) for status in found],
        "settled": [sum(partition.settled for partition in status.partitions) for status in found],
    }


def _thin(keys: Sequence[Key]) -> int:
    return len(sql.run((THIN_LAG, _keys(keys)))[0])


def _keys(keys: Iterable[Key]) -> dict[str, list[int]]:
    listed = list(keys)
    return {"topics": [topic for topic, _ in listed], "consumers": [consumer for _, consumer in listed]}
