"""Partitions that somebody holds locked for long: for a second nobody waits for them in company.

Without this every shared append with an event for such a partition would keep all others waiting for its patience.
"""

import time
from collections.abc import Collection

from core import sql
from core.arrays import smallints

FREE = sql.statement(__file__, "free_partitions")
REMEMBERED_SECONDS = 1.0

_until: dict[tuple[int, int], float] = {}


def notice(topic_id: int, partitions: Collection[int]) -> None:
    """Finds out which of the partitions are held just now. Raises django.db errors."""
    rows = sql.run((FREE, {"topic_id": topic_id, "partitions": smallints(sorted(partitions))}))[0]
    for partition in set(partitions) - {partition for (partition,) in rows}:
        _until[topic_id, partition] = time.monotonic() + REMEMBERED_SECONDS


def is_held(topic_id: int, partition: int) -> bool:
    until = _until.get((topic_id, partition))
    if until is None or until > time.monotonic():
        return until is not None
    _until.pop((topic_id, partition), None)
    return False
