"""Events as JSON, one or a batch: checked once here, then kept as the text that was sent.

The usual body takes a fast way (three passes in C over the whole body); whatever that cannot vouch for, such as escapes that
may hide U+0000 or a name given twice, is read exactly, event by event.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from operator import add
from typing import Any

import msgspec
import orjson
from django.conf import settings

from apps.topics.cloudevents.attributes import check
from apps.topics.errors import InvalidEvent
from apps.topics.items import EVENT, SEQUENCE_BYTES, Item, key_hash
from core import parse
from core.errors import Invalid

_SLICES = msgspec.json.Decoder(list[msgspec.Raw])
_OBJECTS = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_SCANNER = json.JSONDecoder()
_WHITE_TEXT = " \n\r\t"
_BETWEEN = _WHITE_TEXT + ","
_WHITE = (b" ", b"\n", b"\r", b"\t")


def read_one(body: bytes) -> list[Item]:
    """A single event. Raises InvalidJson or InvalidEvent that names the attribute."""
    event = body.strip(b" \n\r\t")
    envelopes = quickly(b"[" + event + b"]", [event]) or _envelopes([event], [""])
    return [item(envelope, event, "", False) for envelope in envelopes]


def read_batch(body: bytes) -> list[Item]:
    """A JSON array of events, 1 to the limit. Raises InvalidJson or InvalidEvent that names `events[n].attribute`."""
    slices = split(body, "events")
    places = [f"events[{n}]." for n in range(len(slices))]
    envelopes = quickly(body, slices)
    if envelopes is None:
        envelopes = list(_envelopes(slices, places))
        return [item(*each, False) for each in zip(envelopes, slices, places, strict=True)]
    plain = b"\\" not in body and body.isascii() and b"\x7f" not in body
    return [item(envelope, raw, at, plain) for envelope, raw, at in zip(envelopes, slices, places, strict=True)]


def split(body: bytes, name: str, refusal: type[Invalid] = InvalidEvent) -> list[bytes]:
    """The elements of a JSON array as they were sent. Raises InvalidJson, or `refusal` for none or too many."""
    limit = settings.TOWPATH["MAX_BATCH_EVENTS"]
    try:
        slices = [bytes(raw) for raw in _SLICES.decode(body)]
    except (msgspec.DecodeError, RecursionError):
        slices = _split_exactly(body, refusal)
    if not 1 <= len(slices) <= limit:
        raise refusal(f"A batch has 1 to {limit} {name}.", field="", min=1, max=limit)
    return slices


def _split_exactly(body: bytes, refusal: type[Invalid]) -> list[bytes]:
    """The same for what msgspec refuses: JSON that holds half of a surrogate pair is JSON."""
    if type(parse.load(body, around=1)) is not list:
        raise refusal("The body must be a JSON array.", field="")
    text, slices = body.decode().strip(_WHITE_TEXT), []
    at = _next(text, 1)
    while text[at] != "]":
        _, end = _SCANNER.raw_decode(text, at)
        slices.append(text[at:end].encode())
        at = _next(text, end)
    return slices


def _next(text: str, at: int) -> int:
    """Where the next element begins, or the array ends."""
    while text[at] in _BETWEEN:
        at += 1
    return at


def quickly(body: bytes, slices: Sequence[bytes]) -> list[dict[str, Any]] | None:
    """The objects of the array, or None where only an exact reading can tell whether they are acceptable."""
    limit = settings.TOWPATH["MAX_JSON_DEPTH"]
    if b"\\u0000" in body or max(map(add, *(map(bytes.count, slices, repeat(sign)) for sign in (b"{", b"[")))) > limit:
        return None
    try:
        objects: list[dict[str, Any]] = orjson.loads(body)
        return objects if _names_differ(slices, _OBJECTS.decode(body)) else None
    except (ValueError, RecursionError):
        return None


def _names_differ(slices: Iterable[bytes], objects: Sequence[dict[str, msgspec.Raw]]) -> bool:
    """Whether no object has a name twice.

    Decoding keeps the last of two values. So if what was kept, with the least of quotes, colons, commas and braces, and the
    white space around it, is as long as what was sent, then nothing was dropped.
    """
    sent, kept = b"".join(slices), b"".join(chain.from_iterable(map(dict.values, objects)))
    names = sum(map(len, chain.from_iterable(objects)))
    fields = sum(map(len, objects))
    white = sum(sent.count(character) - kept.count(character) for character in _WHITE)
    return all(objects) and len(sent) == len(kept) + names + 4 * fields + len(objects) + white


def _envelopes(slices: Iterable[bytes], places: Iterable[str]) -> Iterable[dict[str, Any]]:
    for raw, at in zip(slices, places, strict=True):
        pairs = parse.load(raw)
        if not isinstance(pairs, parse.Pairs):
            raise InvalidEvent("An event must be a JSON object.", field=at.rstrip("."))
        yield _only_once(pairs, at)


def _only_once(pairs: parse.Pairs, at: str) -> dict[str, Any]:
    event: dict[str, Any] = {}
    for name, value in pairs:
        if name in event:
            raise InvalidEvent("This attribute is given twice.", field=f"{at}{parse.printable(name)}")
        event[name] = value
    return event


def item(event: dict[str, Any], raw: bytes, at: str, plain: bool) -> Item:
    if type(event) is not dict:
        raise InvalidEvent("An event must be a JSON object.", field=at.rstrip("."))
    check(event, at, plain)
    identifier, source, subject = event["id"], event["source"], event.get("subject")
    partition_key = event.get("partitionkey") or subject or identifier
    hashed = key_hash(source, identifier)
    size = len(raw) + SEQUENCE_BYTES
    return (partition_key, identifier, hashed, EVENT, size, event["type"], source, subject, raw.decode())
