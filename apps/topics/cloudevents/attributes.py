"""The rules for the attributes of one event, told so that the sender finds the one that breaks them."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from apps.topics.errors import InvalidEvent
from core.clock import parse_time
from core.errors import InvalidField
from core.parse import printable

MAX_PARTITION_KEY = 2048

_NAME = re.compile(r"[a-z0-9]+", re.ASCII)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MEDIA_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*(;.*)?", re.ASCII)
# Almost every time that is sent: no parsing needed to know that it exists.
_PLAIN_TIME = re.compile(
    r"(?!0000)\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30))"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z",
    re.ASCII,
)
_REQUIRED = ("id", "source", "type")
_TEXTS = ("subject", "dataschema", "datacontenttype", "time", "partitionkey")
_KNOWN = frozenset(("specversion", "data", "data_base64", *_REQUIRED, *_TEXTS))
_USUAL = frozenset(("specversion", "data", "datacontenttype", *_REQUIRED, "subject", "time"))


def check(event: Mapping[str, Any], at: str, plain: bool) -> None:
    """Raises InvalidEvent naming the attribute, behind the prefix `at`.

    `plain`: the caller knows that no text of the event can hold control characters.
    """
    if event.get("specversion") != "1.0":
        raise InvalidEvent('specversion must be "1.0".', field=f"{at}specversion")
    for name in _REQUIRED:
        value = event.get(name)
        if type(value) is not str or not value:
            raise InvalidEvent(f"{name} is required: a string that is not empty.", field=f"{at}{name}")
    for name in _TEXTS:
        value = event.get(name)
        if value is not None and (type(value) is not str or not value):
            raise InvalidEvent(f"{name} must be a string that is not empty.", field=f"{at}{name}")
    if (time := event.get("time")) is not None and not _PLAIN_TIME.fullmatch(time):
        _check_time(time, f"{at}time")
    kind = event.get("datacontenttype")
    if kind is not None and kind != "application/json" and not _MEDIA_TYPE.fullmatch(kind):
        raise InvalidEvent("datacontenttype must be a media type, as application/json.", field=f"{at}datacontenttype")
    if not event.keys() <= _USUAL:
        _check_unusual(event, at)
    if not plain:
        _check_texts(event, at)


def _check_time(text: str, field: str) -> None:
    try:
        parse_time(text, field)
    except InvalidField as error:
        raise InvalidEvent(error.message, **error.details) from None


def _check_unusual(event: Mapping[str, Any], at: str) -> None:
    key = event.get("partitionkey")
    if key is not None and len(key) > MAX_PARTITION_KEY:
        message = f"partitionkey has at most {MAX_PARTITION_KEY} characters."
        raise InvalidEvent(message, field=f"{at}partitionkey", max=MAX_PARTITION_KEY)
    if "data_base64" in event:
        _check_base64(event, f"{at}data_base64")
    for name in event.keys() - _KNOWN:
        _check_extension(name, event[name], f"{at}{printable(name)}")


def _check_base64(event: Mapping[str, Any], field: str) -> None:
    if "data" in event:
        raise InvalidEvent("Send data or data_base64, not both.", field=field)
    try:
        base64.b64decode(event["data_base64"], validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise InvalidEvent("data_base64 must be a string of Base64.", field=field) from None


def _check_extension(name: str, value: Any, field: str) -> None:
    if name == "sequence":
        raise InvalidEvent("sequence is given by the topic and cannot be sent.", field=field)
    if not _NAME.fullmatch(name):
        raise InvalidEvent(
            f"The attribute name {printable(name)!r} is not allowed: lower-case letters a-z and digits only.", field=field
        )
    if isinstance(value, bool | str) or value is None:
        return
    if not isinstance(value, int) or not -(2**31) <= value < 2**31:
        message = f"The extension {name} must be a string, a boolean or an integer of 32 bits."
        raise InvalidEvent(message, field=field, min=-(2**31), max=2**31 - 1)


def _check_texts(event: Mapping[str, Any], at: str) -> None:
    for name, value in event.items():
        if type(value) is str and name not in ("data", "data_base64") and _CONTROL.search(value):
            raise InvalidEvent(f"{name} must not hold control characters.", field=f"{at}{name}")
