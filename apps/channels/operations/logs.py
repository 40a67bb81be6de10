"""Log lines of a channel: numbered in the order of their arrival, kept for longer than events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.channels.operations.publish import make_channel
from core import sql

APPEND_LOGS = sql.statement(__file__, "append_logs")


@dataclass(frozen=True)
class Line:
    message: str
    level: str | None = None
    time: datetime | None = None
    fields: str | None = None
    """JSON text of an object."""


def append(channel: str, lines: Sequence[Line]) -> int:
    """All or none; returns the number of the last. Raises NotFound for an unknown kind."""
    columns = {
        "times": [line.time for line in lines],
        "levels": [line.level for line in lines],
        "messages": [line.message for line in lines],
        "fields": [line.fields for line in lines],
    }
    call = (APPEND_LOGS, {"name": channel, **columns})
    (rows,) = sql.run(call)
    if not rows:
        make_channel(channel)
        (rows,) = sql.run(call)
    last: int = rows[0][0]
    return last
