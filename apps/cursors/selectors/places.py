"""Where a topic begins and ends, and where a reader would stand in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from apps.cursors.errors import OutOfLog
from apps.topics.selectors.cold import offsets_since
from core import sql

BOUNDS = sql.statement(__file__, "bounds")
POSITIONS_AT = sql.statement(__file__, "positions_at")

Place = Literal["head", "oldest"] | datetime | Sequence[tuple[int, int]]
"""Ends of the log, the time of an append, or (partition, offset) of the events to be delivered next."""


@dataclass(frozen=True)
class Bounds:
    oldest: int
    hot: int
    head: int


def bounds(topic_id: int) -> dict[int, Bounds]:
    """Of each partition the oldest readable offset and the next one to be written, from one snapshot."""
    return {partition: Bounds(*row) for partition, *row in sql.run((BOUNDS, {"topic_id": topic_id}))[0]}


def positions(topic_id: int, place: Place, field: str) -> dict[int, int]:
    """The next offset of each partition for a reader put at `place`; partitions not named by sequences are left out.

    A time after the head is the head. Raises OutOfLog naming `field`.
    """
    limits = bounds(topic_id)
    match place:
        case "head":
            return {partition: limit.head for partition, limit in limits.items()}
        case "oldest":
            return {partition: limit.oldest for partition, limit in limits.items()}
        case datetime():
            return _at(topic_id, place, limits)
        case _:
            return _named(place, limits, field)


def _at(topic_id: int, time: datetime, limits: Mapping[int, Bounds]) -> dict[int, int]:
    search = {
        "topic_id": topic_id,
        "time": time,
        "partitions": list(limits),
        "lows": [limit.hot for limit in limits.values()],
        "highs": [limit.head for limit in limits.values()],
    }
    # What spills between the two makes the search among rows end early: at an earlier event, never a later one.
    cold = offsets_since(topic_id, time)
    return dict(sorted({**dict(sql.run((POSITIONS_AT, search))[0]), **cold}.items()))


def _named(sequences: Sequence[tuple[int, int]], limits: Mapping[int, Bounds], field: str) -> dict[int, int]:
    if len(dict(sequences)) < len(sequences):
        raise OutOfLog("Name each partition once.", field=field)
    for partition, offset in sequences:
        if partition not in limits:
            raise OutOfLog(f"This topic has the partitions 0 to {len(limits) - 1}.", field=field)
        limit = limits[partition]
        if not limit.oldest <= offset <= limit.head:
            raise OutOfLog(
                f"Partition {partition} holds offsets {limit.oldest} to {limit.head - 1}.",
                field=field,
                oldestOffset=limit.oldest,
                nextOffset=limit.head,
            )
    return dict(sequences)
