"""Events of a topic as events of channels: the place in the log is the id, type and data are the event's."""

from collections.abc import Sequence

import orjson

from apps.channels.names import check_channel, check_type, kind_of
from apps.channels.operations.publish import Item, publish_each
from apps.destinations.forward.fill import Event, Unfit, event_of, fill
from apps.destinations.forward.line import Held, Line
from core.errors import InvalidField, NotFound


def ready(line: Line) -> None:
    """A kind that is missing is found out by publishing: nothing else can be wrong with a channel."""


def prepare(line: Line, key: str, text: str) -> Item:
    event = event_of(text)
    try:
        kind = check_type(event.type)
    except InvalidField as error:
        raise Unfit(error.message) from None
    return Item(fill(line.target["channel"], event, check_channel), key, kind, _data(event))


def send(line: Line, items: Sequence[Item]) -> None:
    try:
        publish_each(items)
    except NotFound:
        raise Held("target_missing", f"there is no kind of channel {kind_of(line.target['channel'])}") from None


def _data(event: Event) -> str:
    """Binary data stay the base64 they are, as a string."""
    return bytes(event.data).decode() if event.data_base64 is None else orjson.dumps(event.data_base64).decode()
