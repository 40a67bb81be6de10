"""Events of a topic as events of channels: the place in the log is the id, type and data are the event's."""

from collections.abc import Sequence

import orjson

from apps.channels.names import check_channel, kind_of
from apps.channels.operations.publish import Item, publish_each
from apps.destinations.forward.fill import Event, Unfit, event_of, fill
from apps.destinations.forward.line import Held, Line
from core.errors import NotFound


def ready(line: Line) -> None:
    """A kind that is missing is found out by publishing: nothing else can be wrong with a channel."""


def unfit(line: Line, text: str) -> str | None:
    try:
        fill(line.target["channel"], event_of(text), check_channel)
    except Unfit as why:
        return str(why)
    return None


def send(line: Line, events: Sequence[tuple[str, str]]) -> None:
    items = [_item(line, key, event_of(text)) for key, text in events]
    try:
        publish_each(items)
    except NotFound:
        raise Held("target_missing", f"there is no kind of channel {kind_of(line.target['channel'])}") from None


def _item(line: Line, key: str, event: Event) -> Item:
    return Item(fill(line.target["channel"], event, check_channel), key, event.type, _data(event))


def _data(event: Event) -> str:
    """Binary data stay the base64 they are, as a string."""
    return bytes(event.data).decode() if event.data_base64 is None else orjson.dumps(event.data_base64).decode()
