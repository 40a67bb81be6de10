"""Names with placeholders (`job:{subject}`): checked when a destination is made, filled for each event."""

import re
from collections.abc import Callable

import msgspec

from core import surrogates
from core.errors import InvalidField
from core.names import check_name

PLACEHOLDERS = ("subject", "type", "id", "partitionkey")
MAX_KEY = 200

_PLACE = re.compile(r"\{([^{}]*)\}")


class Unfit(Exception):
    """Why this one event cannot be pushed: it is parked, and the others go on."""


class Event(msgspec.Struct):
    """What is looked at in an event that is passed on as the text it is."""

    id: str
    type: str
    subject: str | None = None
    partitionkey: str | None = None
    data: msgspec.Raw = msgspec.Raw(b"null")
    data_base64: str | None = None

    def value(self, placeholder: str) -> str | None:
        """The partition key is the resolved one: every event has one."""
        if placeholder == "partitionkey":
            return self.partitionkey or self.subject or self.id
        found: str | None = getattr(self, placeholder)
        return found


_DECODER = msgspec.json.Decoder(Event)


def event_of(text: str) -> Event:
    try:
        return _DECODER.decode(text)
    except msgspec.DecodeError:  # lone surrogates in its data, which are kept
        return surrogates.decode(text.encode(), _DECODER)


def is_fixed(template: str) -> bool:
    return "{" not in template


def check_template(template: str, field: str, check: Callable[[str, str], str]) -> str:
    """The template. Raises InvalidField for unknown placeholders, or when no event could make a good name of it."""
    for name in _PLACE.findall(template):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
            raise InvalidField(f"There is no placeholder {{{name}}}; there are: {known}.", field=field)
    check(_PLACE.sub("x", template), field)
    return template


def check_key(key: str, field: str) -> str:
    if not 1 <= len(key) <= MAX_KEY or "\x00" in key or "{" in key or "}" in key:
        raise InvalidField(f"1 to {MAX_KEY} characters.", field=field, min=1, max=MAX_KEY)
    return key


def fill(template: str, event: Event, check: Callable[[str, str], str] = check_name) -> str:
    """The name for this event. Raises Unfit."""

    def value(match: re.Match[str]) -> str:
        found = event.value(match[1])
        if not found:
            raise Unfit(f"The event has no {match[1]}, which the target {template} needs.")
        return found

    name = _PLACE.sub(value, template)
    try:
        return check(name, template)
    except InvalidField as error:
        raise Unfit(f"The target {template} would be {name[:250]!r}: {error.message}") from None


def fill_key(template: str, event: Event) -> str:
    """As fill, for keys: anything but too long. Raises Unfit."""
    return fill(template, event, _any_key)


def _any_key(key: str, field: str) -> str:
    if not 1 <= len(key) <= MAX_KEY:
        raise InvalidField(f"1 to {MAX_KEY} characters.", field=field)
    return key
