"""How what became of an append, and a topic, are told."""

from collections.abc import Sequence
from typing import Any

from apps.topics.api.schemas import bodies as schemas
from apps.topics.items import Item
from apps.topics.models import Topic
from apps.topics.operations.append import Appended
from apps.topics.operations.outcomes import Outcome, Refused, Written
from apps.topics.selectors.log import Bounds
from core.clock import rfc3339
from core.errors import DomainError, Uncertain
from core.http import error_headers
from core.sequence import sequence


def status(appended: Appended) -> int:
    """202 if all was stored; 503 if that cannot be known of some; else 409."""
    refused = [outcome for outcome in appended.outcomes.values() if isinstance(outcome, Refused)]
    if any(isinstance(outcome.error, Uncertain) for outcome in refused):
        return 503
    return 409 if refused else 202


def headers(appended: Appended) -> dict[str, str]:
    """Retry-After where a retry is what helps."""
    for outcome in appended.outcomes.values():
        if isinstance(outcome, Refused) and (found := error_headers(outcome.error)):
            return found
    return {}


def groups(appended: Appended) -> list[dict[str, Any]]:
    return [_group(partition, outcome) for partition, outcome in appended.outcomes.items()]


def _group(partition: int, outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Refused):
        load = outcome.load and outcome.load.shown()
        success = None if isinstance(outcome.error, Uncertain) else False
        return {"partition": partition, "success": success, "error": _error(outcome.error), "load": load}
    return {
        "partition": partition,
        "success": True,
        "firstOffset": outcome.offsets[0],
        "nextOffset": outcome.next_offset,
        "offsets": outcome.offsets,
        "accepted": len(outcome.offsets) - len(outcome.duplicates),
        "duplicates": len(outcome.duplicates),
        "load": outcome.load.shown(),
    }


def events(appended: Appended, items: Sequence[Item]) -> dict[str, Any]:
    written = [outcome for outcome in appended.outcomes.values() if isinstance(outcome, Written)]
    duplicates = sum(len(outcome.duplicates) for outcome in written)
    accepted = sum(len(outcome.offsets) for outcome in written) - duplicates
    return {"accepted": accepted, "duplicates": duplicates, "events": _each(appended, items)}


def _each(appended: Appended, items: Sequence[Item]) -> list[dict[str, Any]]:
    taken = dict.fromkeys(appended.outcomes, 0)
    shown: list[dict[str, Any]] = []
    for partition, item in zip(appended.partitions, items, strict=True):
        outcome, index = appended.outcomes[partition], taken[partition]
        taken[partition] = index + 1
        if isinstance(outcome, Refused):
            shown.append({"id": item[1], "error": _error(outcome.error)})
        else:
            place = sequence(partition, outcome.offsets[index])
            shown.append({"id": item[1], "sequence": place, "duplicate": index in outcome.duplicates})
    return shown


def _error(error: DomainError) -> dict[str, Any]:
    return {"code": error.code, "message": error.message, "details": error.details}


def bounds(found: Bounds) -> schemas.PartitionBounds:
    return schemas.PartitionBounds(
        partition=found.partition,
        oldest_offset=found.oldest_offset,
        hot_offset=found.hot_offset,
        next_offset=found.next_offset,
        replayable_since=rfc3339(found.replayable_since) if found.replayable_since else None,
    )


def topic(found: Topic) -> schemas.Topic:
    return schemas.Topic(
        id=str(found.uid),
        name=found.name,
        partitions=found.partitions,
        hash=found.hash,
        dedup_window_seconds=found.dedup_seconds,
        retention=_retention(found),
        max_hot_records=found.max_hot_records,
        max_hot_bytes=found.max_hot_bytes,
        max_records_per_second=found.max_records_per_second,
        max_backlog=found.max_backlog,
        created_at=rfc3339(found.created_at),
        updated_at=rfc3339(found.updated_at),
    )


def _retention(found: Topic) -> schemas.Retention:
    return schemas.Retention(
        hot=schemas.HotWindow(seconds=found.hot_seconds, records=found.hot_records, bytes=found.hot_bytes),
        cold=schemas.ColdWindow(seconds=found.cold_seconds),
        on_lag=found.on_lag,
        protect_seconds=found.protect_seconds,
        protect_bytes=found.protect_bytes,
    )
