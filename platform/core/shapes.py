"""What msgspec structs say about themselves: parameters, opaque parts, ranges; and its errors in our words."""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NoReturn

import msgspec
from msgspec import inspect

from core.errors import Invalid

NOT_TEXT = re.compile("[\x00\ud800-\udfff]")

Plan = Mapping[str | None, Any] | None
"""Which parts of a body are opaque: a plan per field, under None that of every item; None: look at all of it."""
OPAQUE: Plan = {}


def printable(text: str) -> str:
    """Text that can be answered as JSON whatever a client sent in it."""
    return NOT_TEXT.sub("\ufffd", text)[:200]


@functools.cache
def parameters(shape: type[msgspec.Struct]) -> dict[str, type[inspect.Type]]:
    """The names of the parameters, each with the kind of its value."""
    information = inspect.type_info(shape)
    assert isinstance(information, inspect.StructType)
    return {field.encode_name: type(_bare(field.type)) for field in information.fields}


@functools.cache
def plan(shape: type[msgspec.Struct]) -> Plan:
    return _plan_of(inspect.type_info(shape))


def _plan_of(kind: inspect.Type) -> Plan:
    match _bare(kind):
        case inspect.RawType():
            return OPAQUE
        case inspect.StructType(fields=fields):
            return {field.encode_name: _plan_of(field.type) for field in fields}
        case inspect.ListType(item_type=item) | inspect.DictType(value_type=item):
            return {None: _plan_of(item)}
    return None


def _bare(kind: inspect.Type) -> inspect.Type:
    """The type without null, absence and metadata around it."""
    if isinstance(kind, inspect.Metadata):
        return _bare(kind.type)
    if isinstance(kind, inspect.UnionType):
        return next((_bare(part) for part in kind.types if not isinstance(part, inspect.NoneType)), kind)
    return kind


_WHERE = re.compile(r"^(.*?)(?: - at `(?:key in )?\$\.?(.*?)`)?$", re.DOTALL)
_NAMED = re.compile(r"field `(.*)`", re.DOTALL)


MAX_PROBLEMS = 20


def refuse(
    error: msgspec.ValidationError, shape: type[msgspec.Struct], kind: Callable[..., Invalid], raw: bytes = b""
) -> NoReturn:
    """Turns msgspec's message into ours: the field's path, and its range where it has one.

    msgspec stops at the first field; with the body given, `errors` in the details lists all where there are several.
    """
    first = _described(error, shape, raw)
    found = list(islice(_problems(raw, shape), MAX_PROBLEMS)) if raw else []
    more = {"errors": found} if len(found) > 1 else {}
    raise kind(first.pop("message"), **first, **more)


def _problems(raw: bytes, shape: type[msgspec.Struct]) -> Iterator[dict[str, Any]]:
    """What is wrong with each field of an object, in the order in which it should have them, then those it should not."""
    alone = _alone(shape)
    for decoder in alone.values():
        try:
            decoder.decode(raw)
        except msgspec.ValidationError as error:
            yield _described(error, shape, raw)
        except msgspec.DecodeError:
            return  # a lone surrogate in an opaque field: the first problem has to do
    for name in (name for name in msgspec.json.decode(raw, type=dict[str, Any]) if name not in alone):
        yield {"message": f"There is no field '{printable(name)}' here.", "field": printable(name)}


@functools.cache
def _alone(shape: type[msgspec.Struct]) -> dict[str, msgspec.json.Decoder[msgspec.Struct]]:
    """For each field something that reads only this one."""
    found = {}
    for each in msgspec.structs.fields(shape):
        given: dict[str, Any] = {"name": each.encode_name}
        if not each.required:
            given |= {"default": each.default, "default_factory": each.default_factory}
        one = msgspec.defstruct(shape.__name__, [(each.name, each.type, msgspec.field(**given))], kw_only=True)
        found[each.encode_name] = msgspec.json.Decoder(one)
    return found


def _described(error: msgspec.ValidationError, shape: type[msgspec.Struct], raw: bytes = b"") -> dict[str, Any]:
    match = _WHERE.match(str(error))
    message, path = (match[1], match[2] or "") if match else (str(error), "")
    if named := _NAMED.search(message):
        path = f"{path}.{named[1]}" if path else named[1]
    bounds, unit = _bounds(shape, path)
    path = _with_key(path, error, shape, raw)
    if bounds:
        message = f"Must be {unit} {' '.join(f'{word} {bound}' for word, bound in _worded(bounds))}"
    return {"message": printable(message.replace("`", "'").rstrip(".")) + ".", "field": printable(path), **bounds}


def _with_key(path: str, error: msgspec.ValidationError, shape: type[msgspec.Struct], raw: bytes) -> str:
    """The path with the name of the entry at fault, where msgspec says only that it is in a dict (`documents[...]`)."""
    field, marked, rest = path.partition("[...]")
    if not marked or not raw or "." in field:
        return path
    try:
        given = msgspec.json.decode(raw, type=dict[str, Any])
    except msgspec.DecodeError:
        return path  # a lone surrogate in an opaque field: the path has to do
    for name, value in given[field].items():
        try:
            _alone(shape)[field].decode(msgspec.json.encode({field: {name: value}}))
        except msgspec.ValidationError as fault:
            if str(fault) == str(error):
                return f"{field}.{name}{rest}"
    return path


def _worded(bounds: dict[str, int]) -> Iterable[tuple[str, int]]:
    words = {"min": "from", "max": "to"} if len(bounds) == 2 else {"min": "at least", "max": "at most"}
    return ((words[name], bound) for name, bound in bounds.items())


def _bounds(shape: type[msgspec.Struct], path: str) -> tuple[dict[str, int], str]:
    """The range of the field at a path of the struct, and what it counts."""
    match _bare(_at(inspect.type_info(shape), re.findall(r"[^.\[\]]+", path))):
        case inspect.IntType(ge=low, le=high):
            unit = "a whole number"
        case inspect.StrType(min_length=low, max_length=high):
            unit = "a text with a length"
        case inspect.ListType(min_length=low, max_length=high):
            unit = "a list with a length"
        case _:
            return {}, ""
    return {name: bound for name, bound in (("min", low), ("max", high)) if bound is not None}, unit


def _at(kind: inspect.Type, path: list[str]) -> inspect.Type:
    for part in path:
        match _bare(kind):
            case inspect.StructType(fields=fields):
                kind = next((field.type for field in fields if field.encode_name == part), inspect.AnyType())
            case inspect.ListType(item_type=item) | inspect.DictType(value_type=item):
                kind = item
    return kind
