"""What clients send, read strictly: a misspelt name, one given twice or a value out of range is an error that names it.

Structs (msgspec) say what is allowed. Fields of type msgspec.Raw are opaque: stored as sent, and not looked into here but
for being JSON of finite numbers within the depth limit.
"""

import functools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from django.conf import settings
from django.http import HttpRequest
from msgspec import inspect

from core import surrogates
from core.errors import InvalidField, InvalidJson, InvalidParameter, UnsupportedMediaType
from core.shapes import NOT_TEXT, OPAQUE, Plan, parameters, plan, refuse
from core.shapes import printable as printable

Parsed = TypeVar("Parsed", bound=msgspec.Struct)


class Body(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True, frozen=True):
    """Base of request bodies: camelCase outside, no unknown fields. msgspec.UNSET as default tells absent from null."""


class Query(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True, frozen=True):
    """Base of query strings: fields are int or str, with msgspec.Meta for their ranges."""


class NoQuery(Query, frozen=True):
    """For a call that takes no parameters: a misspelt one is an error there as well."""


MAX_PARAMETERS = 100
_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
# Possessive, and content with a missing end: a body of nothing but \" would otherwise be scanned once per quote.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_BRACKETS = re.compile(r"[^\[\]{}]++")


def query(request: HttpRequest, shape: type[Parsed]) -> Parsed:
    """The query string as `shape`. Raises InvalidParameter that names the parameter."""
    return as_query(pairs(request), shape)


def as_query(values: dict[str, str], shape: type[Parsed]) -> Parsed:
    """Parameters that have been read already, as `shape`. Raises InvalidParameter that names the parameter."""
    kinds = parameters(shape)
    converted: dict[str, int | str] = {}
    for name, text in values.items():
        if name not in kinds:
            raise InvalidParameter(f"There is no parameter {printable(name)!r} here.", field=printable(name))
        converted[name] = _value(text) if kinds[name] is inspect.IntType else text
    try:
        return msgspec.convert(converted, shape)
    except msgspec.ValidationError as error:
        refuse(error, shape, InvalidParameter)


def no_query(request: HttpRequest) -> None:
    if request.META.get("QUERY_STRING"):
        query(request, NoQuery)


def pairs(request: HttpRequest) -> dict[str, str]:
    """Every parameter of the query string once, as text. Raises InvalidParameter."""
    return _pairs(request.META.get("QUERY_STRING", ""))


def form(request: HttpRequest) -> dict[str, str]:
    """The body as an urlencoded form, as strictly as a query string. Raises UnsupportedMediaType, InvalidParameter."""
    check_json_type(request, ("application/x-www-form-urlencoded",))
    return _pairs(request.body.decode("latin-1"))


def _pairs(text: str) -> dict[str, str]:
    if not text:
        return {}
    if text.count("&") >= MAX_PARAMETERS:
        raise InvalidParameter(f"There are more than {MAX_PARAMETERS} parameters.", field="")
    try:
        found = parse_qsl(text, keep_blank_values=True, errors="strict")
    except ValueError:
        found = None
    if found is None or _BAD_ESCAPE.search(text) or not text.isascii():
        raise InvalidParameter("This is not percent-encoded UTF-8.", field=_unreadable(text))
    values: dict[str, str] = {}
    for name, value in found:
        if NOT_TEXT.search(name + value):
            raise InvalidParameter("U+0000 is not allowed here.", field=printable(name))
        if name in values:
            raise InvalidParameter("This parameter is given twice.", field=printable(name))
        values[name] = value
    return values


def _unreadable(text: str) -> str:
    """The name, as far as it can be read, of the first parameter that is not percent-encoded UTF-8."""
    for part in text.split("&"):
        whole = unquote_to_bytes(part.replace("+", " "))
        if _BAD_ESCAPE.search(part) or not part.isascii() or _is_no_text(whole):
            return printable(whole.partition(b"=")[0].decode(errors="replace"))
    return ""


def _is_no_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return True
    return False


def is_whole_number(text: str) -> bool:
    """ASCII digits without a plus, blanks or leading zeros; nothing that only looks like a number."""
    return len(text) <= 19 and _INTEGER.fullmatch(text) is not None


def body(request: HttpRequest, shape: type[Parsed]) -> Parsed:
    """The JSON body as `shape`. Raises InvalidJson, InvalidField (with the path of the field) or UnsupportedMediaType."""
    check_json_type(request)
    return decode(request.body, shape)


def optional_body(request: HttpRequest, shape: type[Parsed]) -> Parsed:
    """As body, for a struct whose fields may all be missing: then the body may be missing as well."""
    check_json_type(request)
    return decode(request.body or b"{}", shape)


def decode(raw: bytes, shape: type[Parsed]) -> Parsed:
    envelope = load(raw)
    if not isinstance(envelope, Pairs):
        raise InvalidField("The body must be a JSON object.", field="")
    check_envelope(envelope, plan(shape))
    try:
        return _decoded(raw, _decoder(shape))  # type: ignore[no-any-return]
    except msgspec.ValidationError as error:
        refuse(error, shape, InvalidField, raw)


def _decoded(raw: bytes, decoder: msgspec.json.Decoder[Parsed]) -> Parsed:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        # It is JSON by now: the one thing that msgspec refuses beyond that, and by now only opaque fields have it.
        return surrogates.decode(raw, decoder)


def no_body(request: HttpRequest) -> None:
    """Refuses a body where none is read: a client that sends one expects something of it."""
    if request.body:
        raise InvalidField("This call takes no body.", field=_first_name(request.body))


def _first_name(raw: bytes) -> str:
    """Of the first field of what should not be there; empty where it has none."""
    try:
        found = load(raw)
    except InvalidJson:
        return ""
    return printable(found[0][0]) if isinstance(found, Pairs) and found else ""


def media_type(request: HttpRequest) -> str:
    """The media type of the body without its parameters; empty when none was sent."""
    kind: str = request.META.get("CONTENT_TYPE", "").partition(";")[0]
    return kind.strip().lower()


def check_encoding(request: HttpRequest) -> None:
    if request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() not in ("identity", ""):
        raise UnsupportedMediaType("Content-Encoding is not supported.")


def check_json_type(request: HttpRequest, allowed: Iterable[str] = ("application/json",)) -> str:
    """The media type of the body; an absent one counts as JSON. Raises UnsupportedMediaType."""
    check_encoding(request)
    kind = media_type(request) or "application/json"
    parameters = request.META.get("CONTENT_TYPE", "").partition(";")[2]
    charset = re.search(r'charset\s*=\s*"?([^";\s]+)', parameters, re.IGNORECASE) if parameters else None
    if kind not in allowed or (charset and charset[1].lower() not in ("utf-8", "utf8")):
        raise UnsupportedMediaType(f"Send {' or '.join(allowed)} in UTF-8.")
    return kind


class Pairs(list[tuple[str, Any]]):
    """A JSON object as written: duplicate names are still there."""


def load(raw: bytes, around: int = 0) -> Any:
    """JSON with objects as Pairs. Raises InvalidJson for bad UTF-8, NaN, numbers that overflow, and too much depth.

    `around`: levels that do not count, such as the array around a batch.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise InvalidJson("The body is not UTF-8.") from None
    check_depth(text, around)
    try:
        return _JSON.decode(text)
    except InvalidJson:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidJson(f"The body is not valid JSON: {error}.") from None


def check_depth(text: str, around: int = 0) -> None:
    """Raises InvalidJson for more nesting than the limit, before any parser recurses into it."""
    limit = settings.TOWPATH["MAX_JSON_DEPTH"] + around
    if text.count("{") + text.count("[") <= limit:
        return
    brackets = _NOT_BRACKETS.sub("", _STRING.sub("", text)).replace("{", "[").replace("}", "]")
    for _ in range(limit):
        if not brackets:
            return
        brackets = brackets.replace("[]", "")
    if brackets:
        raise InvalidJson(f"JSON deeper than {limit} levels, or with unpaired brackets, is not accepted.", max=limit)


def check_envelope(node: Any, known: Plan = None) -> None:
    """Raises InvalidField for duplicate names and for text that is not storable, outside what is opaque."""
    fault = _fault(node, known)
    if fault is not None:
        path, message = fault
        raise InvalidField(message, field=printable(path.removeprefix(".")))


def _fault(node: Any, known: Plan) -> tuple[str, str] | None:
    """The path to the first fault and what it is. Paths are put together only on the way back from one."""
    if known is OPAQUE:
        return None
    if isinstance(node, Pairs):
        return _fault_of_names(node) or next(_faults(((f".{name}", name, value) for name, value in node), known), None)
    if isinstance(node, list):
        return next(_faults(((f"[{index}]", None, value) for index, value in enumerate(node)), known), None)
    if isinstance(node, str) and NOT_TEXT.search(node):
        return "", "U+0000 and lone surrogates are not allowed here."
    return None


def _faults(children: Iterable[tuple[str, str | None, Any]], known: Plan) -> Iterator[tuple[str, str]]:
    for step, name, value in children:
        fault = _fault(value, None if known is None else known.get(name, known.get(None)))
        if fault is not None:
            yield step + fault[0], fault[1]


def _fault_of_names(node: Pairs) -> tuple[str, str] | None:
    seen: set[str] = set()
    for name, _ in node:
        if name in seen:
            return f".{name}", "This field is given twice."
        if NOT_TEXT.search(name):
            return f".{name}", "U+0000 and lone surrogates are not allowed here."
        seen.add(name)
    return None


def _no_constant(name: str) -> NoReturn:
    raise InvalidJson(f"{name} is not JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise InvalidJson("A number is too large for a double.")
    return number


def _whole(text: str) -> int | float:
    return int(text) if len(text) < 300 else _finite(text)


_JSON = json.JSONDecoder(object_pairs_hook=Pairs, parse_constant=_no_constant, parse_float=_finite, parse_int=_whole)


def _value(text: str) -> int | str:
    """A text that is no number stays one, for the struct to refuse with its range."""
    return int(text) if is_whole_number(text) else text


@functools.cache
def _decoder(shape: type[Parsed]) -> msgspec.json.Decoder[Parsed]:
    return msgspec.json.Decoder(shape)
