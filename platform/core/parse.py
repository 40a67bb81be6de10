"""What clients send, read strictly: a misspelt name, one given twice or a value out of range is an error that names it.

Structs (msgspec) say what is allowed. Fields of type msgspec.Raw are opaque: stored as sent, and not looked into here but
for being JSON of finite numbers within the depth limit.
"""

import functools
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar
from urllib.parse import parse_qsl

import msgspec
from django.conf import settings
from django.http import HttpRequest
from msgspec import inspect

from core.errors import Invalid, InvalidField, InvalidJson, InvalidParameter, UnsupportedMediaType

Parsed = TypeVar("Parsed", bound=msgspec.Struct)


class Body(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True, frozen=True):
    """Base of request bodies: camelCase outside, no unknown fields. msgspec.UNSET as default tells absent from null."""


class Query(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True, frozen=True):
    """Base of query strings: fields are int or str, with msgspec.Meta for their ranges."""


_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
MAX_PARAMETERS = 100


def query(request: HttpRequest, shape: type[Parsed]) -> Parsed:
    """The query string as `shape`. Raises InvalidParameter that names the parameter."""
    values = pairs(request)
    kinds = _parameters(shape)
    converted: dict[str, int | str] = {}
    for name, text in values.items():
        if name not in kinds:
            raise InvalidParameter(f"There is no parameter {printable(name)!r} here.", field=printable(name))
        converted[name] = whole_number(name, text) if kinds[name] is inspect.IntType else text
    try:
        return msgspec.convert(converted, shape)
    except msgspec.ValidationError as error:
        _refuse(error, shape, InvalidParameter)


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
    if _BAD_ESCAPE.search(text) or not text.isascii():
        raise InvalidParameter("This is not percent-encoded UTF-8.", field="")
    try:
        found = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS)
    except ValueError:
        raise InvalidParameter(
            f"This is not up to {MAX_PARAMETERS} parameters in percent-encoded UTF-8.", field=""
        ) from None
    values: dict[str, str] = {}
    for name, value in found:
        if _NOT_TEXT.search(name + value):
            raise InvalidParameter("U+0000 is not allowed here.", field=printable(name))
        if name in values:
            raise InvalidParameter("This parameter is given twice.", field=printable(name))
        values[name] = value
    return values


def body(request: HttpRequest, shape: type[Parsed]) -> Parsed:
    """The JSON body as `shape`. Raises InvalidJson, InvalidField (with the path of the field) or UnsupportedMediaType."""
    check_json_type(request)
    return decode(request.body, shape)


def decode(raw: bytes, shape: type[Parsed]) -> Parsed:
    envelope = load(raw)
    if not isinstance(envelope, Pairs):
        raise InvalidField("The body must be a JSON object.", field="")
    check_envelope(envelope, _opaque(shape))
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError as error:
        _refuse(error, shape, InvalidField)


def no_body(request: HttpRequest) -> None:
    """Refuses a body where none is read: a client that sends one expects something of it."""
    if request.body:
        raise InvalidField("This call takes no body.", field="")


def check_json_type(request: HttpRequest, allowed: Iterable[str] = ("application/json",)) -> str:
    """The media type of the body; an absent one counts as JSON. Raises UnsupportedMediaType."""
    if request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() not in ("identity", ""):
        raise UnsupportedMediaType("Content-Encoding is not supported.")
    kind, _, parameters = request.META.get("CONTENT_TYPE", "").partition(";")
    kind = kind.strip().lower() or "application/json"
    charset = re.search(r'charset\s*=\s*"?([^";\s]+)', parameters, re.IGNORECASE)
    if kind not in allowed or (charset and charset[1].lower() not in ("utf-8", "utf8")):
        raise UnsupportedMediaType(f"Send {' or '.join(allowed)} in UTF-8.")
    return kind


class Pairs(list[tuple[str, Any]]):
    """A JSON object as written: duplicate names are still there."""


def load(raw: bytes) -> Any:
    """JSON with objects as Pairs. Raises InvalidJson for bad UTF-8, NaN, numbers that overflow, and too much depth."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise InvalidJson("The body is not UTF-8.") from None
    check_depth(text)
    try:
        return json.loads(text, object_pairs_hook=Pairs, parse_constant=_no_constant, parse_float=_finite)
    except InvalidJson:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidJson(f"The body is not valid JSON: {error}.") from None


def check_depth(text: str) -> None:
    """Raises InvalidJson for more nesting than the limit, before any parser recurses into it."""
    limit = settings.TOWPATH["MAX_JSON_DEPTH"]
    if text.count("{") + text.count("[") <= limit:
        return
    depth = deepest = 0
    for character in re.findall(r"[\[\]{}]", _STRING.sub("", text)):
        depth += 1 if character in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > limit:
        raise InvalidJson(f"JSON deeper than {limit} levels is not accepted.", max=limit)


def check_envelope(node: Any, opaque: frozenset[str], path: str = "") -> None:
    """Raises InvalidField for duplicate names and for text that is not storable, outside the opaque fields."""
    if isinstance(node, Pairs):
        seen: set[str] = set()
        for name, value in node:
            where = f"{path}.{name}" if path else name
            if name in seen:
                raise InvalidField("This field is given twice.", field=printable(where))
            seen.add(name)
            check_text(name, where)
            if name not in opaque:
                check_envelope(value, opaque, where)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            check_envelope(value, opaque, f"{path}[{index}]")
    elif isinstance(node, str):
        check_text(node, path)


def check_text(text: str, field: str) -> None:
    if _NOT_TEXT.search(text):
        raise InvalidField("U+0000 and lone surrogates are not allowed here.", field=printable(field))


def printable(text: str) -> str:
    """Text that can be answered as JSON whatever a client sent in it."""
    return _NOT_TEXT.sub("\ufffd", text)[:200]


def _no_constant(name: str) -> NoReturn:
    raise InvalidJson(f"{name} is not JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise InvalidJson("A number is too large for a double.")
    return number


def whole_number(name: str, text: str) -> int:
    """A number of the query string: ASCII digits only. Raises InvalidParameter."""
    if not _INTEGER.fullmatch(text):
        raise InvalidParameter("Must be a whole number.", field=name)
    return int(text)


@functools.cache
def _parameters(shape: type[msgspec.Struct]) -> dict[str, type[inspect.Type]]:
    """The names of the parameters, each with the kind of its value."""
    information = inspect.type_info(shape)
    assert isinstance(information, inspect.StructType)
    return {field.encode_name: type(_bare(field.type)) for field in information.fields}


def _bare(kind: inspect.Type) -> inspect.Type:
    """The type without null, absence and metadata around it."""
    if isinstance(kind, inspect.Metadata):
        return _bare(kind.type)
    if isinstance(kind, inspect.UnionType):
        return next((_bare(part) for part in kind.types if not isinstance(part, inspect.NoneType)), kind)
    return kind


@functools.cache
def _opaque(shape: type[msgspec.Struct]) -> frozenset[str]:
    """Names of the fields that are stored as sent, at any depth of the struct."""
    names: set[str] = set()

    def walk(kind: inspect.Type) -> None:
        kind = _bare(kind)
        if isinstance(kind, inspect.StructType):
            for field in kind.fields:
                if isinstance(_bare(field.type), inspect.RawType):
                    names.add(field.encode_name)
                walk(field.type)
        elif isinstance(kind, inspect.ListType):
            walk(kind.item_type)

    walk(inspect.type_info(shape))
    return frozenset(names)


_WHERE = re.compile(r"^(.*?)(?: - at `(?:key in )?\$\.?(.*?)`)?$", re.DOTALL)
_NAMED = re.compile(r"field `(.*)`")


def _refuse(error: msgspec.ValidationError, shape: type[msgspec.Struct], kind: Callable[..., Invalid]) -> NoReturn:
    """Turns msgspec's message into ours: the field's path, and its range where it has one."""
    match = _WHERE.match(str(error))
    message, path = (match[1], match[2] or "") if match else (str(error), "")
    if named := _NAMED.search(message):
        path = f"{path}.{named[1]}" if path else named[1]
    bounds = _bounds(shape, path)
    if bounds:
        message = "Must be from {min} to {max}.".format(**bounds)
    raise kind(message.replace("`", "'").rstrip(".") + ".", field=printable(path), **bounds)


def _bounds(shape: type[msgspec.Struct], path: str) -> dict[str, int]:
    kind: inspect.Type = inspect.type_info(shape)
    for part in re.findall(r"[^.\[\]]+", path):
        kind = _bare(kind)
        if isinstance(kind, inspect.StructType):
            found = next((field.type for field in kind.fields if field.encode_name == part), None)
            if found is None:
                return {}
            kind = found
        elif isinstance(kind, inspect.ListType):
            kind = kind.item_type
    kind = _bare(kind)
    if isinstance(kind, inspect.IntType) and kind.ge is not None and kind.le is not None:
        return {"min": kind.ge, "max": kind.le}
    return {}
