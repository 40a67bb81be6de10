"""Lists: `?limit=` and an opaque `cursor`, `{"items": […], "nextCursor": …}`, never an offset and never a COUNT."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from core.errors import InvalidParameter

Item = TypeVar("Item")

DEFAULT_LIMIT = 50
MAX_LIMIT = 200


def encode_cursor(position: Sequence[str | int]) -> str:
    """An opaque, URL-safe text for the sort key of the last item shown."""
    return base64.urlsafe_b64encode(json.dumps(list(position)).encode()).decode().rstrip("=")


def decode_cursor(text: str, kinds: Sequence[type]) -> list[Any]:
    """The position in a cursor that encode_cursor made. Raises InvalidParameter for anything else."""
    try:
        position = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if isinstance(position, list) and [type(part) for part in position] == list(kinds):
            return position
    except (ValueError, binascii.Error, RecursionError):
        pass
    raise InvalidParameter("This cursor was not made by this list.", field="cursor")


def page(rows: Sequence[Item], limit: int, position: Callable[[Item], Sequence[str | int]]) -> dict[str, Any]:
    """One page from up to `limit` + 1 rows: the extra row only tells that there is a next page."""
    items = list(rows[:limit])
    more = len(rows) > limit
    return {"items": items, "nextCursor": encode_cursor(position(items[-1])) if more else None}
