"""An event whose attributes are HTTP headers and whose body is its data. Composed to JSON once, here."""

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

import orjson

from apps.topics.cloudevents.attributes import check
from apps.topics.cloudevents.structured import item
from apps.topics.errors import InvalidEvent
from apps.topics.items import Item
from core import parse
from core.errors import UnsupportedMediaType

PREFIX = "HTTP_CE_"
REPEATED_KEY = "towpath.repeated"  # the gateway names here the headers that came more than once
UNDERSCORED_KEY = "towpath.underscored"  # and here those with an underscore, which it does not pass on


def is_binary(meta: Mapping[str, object]) -> bool:
    return any(name.startswith(PREFIX) for name in meta)


def read_binary(headers: Mapping[str, str], content_type: str, body: bytes) -> list[Item]:
    """`headers`: the ce-* headers by attribute name, as sent. Raises InvalidJson or InvalidEvent naming `ce-…`."""
    attributes = {name: _text(name, value) for name, value in headers.items()}
    if content_type:
        attributes["datacontenttype"] = content_type
    for name in ("data", "data_base64"):
        if name in headers:
            raise InvalidEvent("The body of the request is the data.", field=f"ce-{name}")
    check(attributes, "ce-", False)
    raw = _compose(attributes, _member(content_type, body))
    return [item(attributes, raw, "ce-", False)]


def headers_of(meta: Mapping[str, Any]) -> dict[str, str]:
    """The ce-* headers of a WSGI environ by attribute name. Raises InvalidEvent for what belongs into Content-Type."""
    headers = {
        name[len(PREFIX) :].lower().replace("_", "-"): value for name, value in meta.items() if name.startswith(PREFIX)
    }
    if underscored := sorted(meta.get(UNDERSCORED_KEY, ())):
        raise _refused(underscored[0])
    if twice := sorted(name for name in meta.get(REPEATED_KEY, ()) if name.startswith(PREFIX)):
        raise InvalidEvent("This header is given twice.", field=_shown(twice[0]))
    if "datacontenttype" in headers:
        raise InvalidEvent("In binary mode Content-Type says what the data is.", field="ce-datacontenttype")
    return headers


def _refused(header: str) -> InvalidEvent:
    if header == "ce-data_base64":
        return InvalidEvent("The body of the request is the data.", field=header)
    return InvalidEvent(
        f"The attribute name {parse.printable(header[3:])!r} is not allowed: lower-case letters a-z and digits only.",
        field=parse.printable(header),
    )


def _shown(variable: str) -> str:
    return f"ce-{variable.removeprefix(PREFIX).lower().replace('_', '-')}"


def _text(name: str, value: str) -> str:
    """Percent-decoded; a bare % stands for itself. WSGI hands headers over as Latin-1."""
    try:
        return unquote_to_bytes(value.encode("latin-1")).decode()
    except UnicodeError:
        raise InvalidEvent("The header is not UTF-8.", field=f"ce-{parse.printable(name)}") from None


def _compose(attributes: Mapping[str, str], member: bytes) -> bytes:
    return orjson.dumps(attributes)[:-1] + member + b"}"


def _member(content_type: str, body: bytes) -> bytes:
    """`,"data":…` or `,"data_base64":…` as JSON, or nothing for an empty body."""
    kind, _, parameters = content_type.lower().partition(";")
    kind = kind.strip()
    if not body:
        return b""
    if not kind or kind == "application/json" or kind.endswith("+json"):
        parse.load(body)
        return b',"data":' + body.strip(b" \n\r\t")
    if not kind.startswith("text/"):
        return b',"data_base64":"' + base64.b64encode(body) + b'"'
    return b',"data":' + orjson.dumps(_decoded(body, parameters))


def _decoded(body: bytes, parameters: str) -> str:
    if "charset" in parameters and "utf-8" not in parameters and "us-ascii" not in parameters:
        raise UnsupportedMediaType("Text is accepted in UTF-8 only.")
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise InvalidEvent("The text is not UTF-8.", field="data") from None
