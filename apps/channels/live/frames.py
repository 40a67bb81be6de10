"""Server-Sent Events as bytes, composed once for all connections. Only events carry an `id:`, which is their sequence."""

from dataclasses import dataclass
from typing import Any

import orjson

from apps.channels.names import POINTER, RESYNC
from apps.channels.selectors.reading import Event
from core.clock import rfc3339

JOINED = b": joined\n\n"
COMMENT = b": still here\n\n"
# A line break would end the frame's line. In JSON text it can only be white space between tokens.
_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True, slots=True)
class Frame:
    sequence: int
    text: bytes


def event_frame(event: Event, channel: str) -> Frame:
    """A pointer instead when the event came without its data, being too large to travel."""
    if event.data is None:
        return Frame(event.sequence, pointer(channel, event.sequence))
    shown: dict[str, Any] = {
        "id": event.id,
        "sequence": event.sequence,
        "type": event.type,
        "time": rfc3339(event.time),
        "channel": channel,
        "data": orjson.Fragment(event.data),
    }
    line = orjson.dumps(shown).translate(_ONE_LINE)
    return Frame(event.sequence, b"id: %d\ndata: %b\n\n" % (event.sequence, line))


def pointer(channel: str, sequence: int) -> bytes:
    """Names a sequence that did not travel; who follows replays from its cursor."""
    return _control({"type": POINTER, "channel": channel, "sequence": sequence})


def resync(channel: str) -> bytes:
    """More was lost than can be said: who follows loads a new snapshot."""
    return _control({"type": RESYNC, "channel": channel})


def _control(shown: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % orjson.dumps(shown)
