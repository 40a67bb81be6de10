"""Appending events to a topic: grouped by partition, each group stored whole or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

from django.conf import settings
from django.db import DatabaseError

from apps.topics.hashing import partition_for
from apps.topics.items import Item, stored_bytes
from apps.topics.operations.create import topic_for_use
from apps.topics.operations.line import backlog, stand_in_line
from apps.topics.operations.outcomes import Outcome, Refused, Written
from apps.topics.operations.quotas import over_backlog, over_rate
from apps.topics.selectors import resolve
from apps.topics.selectors.log import load
from apps.topics.selectors.resolve import TopicRef
from core import metrics
from core.errors import DomainError, NotFound, TooLarge


@dataclass(frozen=True, slots=True)
class Appended:
    topic: TopicRef
    partitions: list[int]
    """Of each event in input order."""
    outcomes: dict[int, Outcome]
    """By partition, in order of first appearance."""


def append(name: str, items: Sequence[Item]) -> Appended:
    """Appends to the topic of that name or uid, which is made if the installation allows it.

    Each group's outcome is its own: see Outcome. Raises NotFound, and Unavailable when there is no database.
    """
    try:
        return _append(topic_for_use(name), items)
    except NotFound:
        # Deleted meanwhile, and perhaps made again: the name may mean another topic than it did when it was looked up.
        resolve.forget(name)
        return _append(topic_for_use(name), items)


def _append(topic: TopicRef, items: Sequence[Item]) -> Appended:
    partitions = [partition_for(item[0], topic.partitions) for item in items]
    groups: dict[int, list[Item]] = {partition: [] for partition in partitions}
    for partition, item in zip(partitions, items, strict=True):
        groups[partition].append(item)
    outcomes: dict[int, Outcome] = {partition: oversize() for partition, group in groups.items() if is_over(group)}
    fitting = {partition: group for partition, group in groups.items() if partition not in outcomes}
    outcomes |= {partition: Refused(error) for partition in fitting if (error := refusal(topic, partition))}
    fitting = {partition: group for partition, group in fitting.items() if partition not in outcomes}
    if fitting:
        began = perf_counter()
        try:
            outcomes |= stand_in_line(topic, fitting)
        finally:
            metrics.APPEND_SECONDS.observe(perf_counter() - began)
    _count(groups, outcomes)
    return Appended(topic, partitions, {partition: _told(topic, partition, outcomes[partition]) for partition in groups})


def refusal(topic: TopicRef, partition: int) -> DomainError | None:
    """By a quota that can be looked up without the database; those on the hot part are decided under the lock."""
    return over_rate(topic, partition) or over_backlog(topic, backlog(topic.id))


def _told(topic: TopicRef, partition: int, outcome: Outcome) -> Outcome:
    """Whoever is refused learns what the partition carries."""
    if isinstance(outcome, Written):
        return outcome
    try:
        return Refused(outcome.error, load(topic, partition)[partition])
    except DatabaseError:
        return outcome


def _count(groups: dict[int, list[Item]], outcomes: dict[int, Outcome]) -> None:
    for partition, outcome in outcomes.items():
        word = outcome.error.code.lower() if isinstance(outcome, Refused) else "accepted"
        duplicates = 0 if isinstance(outcome, Refused) else len(outcome.duplicates)
        _counter(word).inc(len(groups[partition]) - duplicates)
        if duplicates:
            _counter("duplicate").inc(duplicates)


@cache
def _counter(word: str) -> Any:
    # labels() takes a lock and a join each time; the words are few.
    return metrics.APPENDS.labels(word)


def is_over(group: Sequence[Item]) -> bool:
    limit = settings.TOWPATH["MAX_EVENT_BYTES"]
    return any(len(item[8]) * 4 > limit and stored_bytes(item) > limit for item in group)


def oversize() -> Refused:
    limit = settings.TOWPATH["MAX_EVENT_BYTES"]
    return Refused(TooLarge(f"An event has at most {limit} bytes.", max=limit))
