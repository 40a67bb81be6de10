"""Lone surrogates are an error in what we read, and kept in what we only pass on."""

import msgspec
import pytest

from core import parse
from core.errors import InvalidField


class Item(parse.Body, frozen=True):
    name: str = ""
    note: msgspec.Raw = msgspec.Raw(b"null")
    payload: msgspec.Raw = msgspec.Raw(b"null")


class Items(parse.Body, frozen=True):
    items: list[Item]


LONE = [rb'"\ud83d"', rb'"\ude4f\ud83d"', rb'"\\\ud83d"', rb'{"\uD83D": ["\ud83d\ude4f", "\ud83d\ud83d\ude4f"]}']


@pytest.mark.parametrize("text", LONE)
def test_opaque_fields_keep_them_byte_for_byte(text):
    assert bytes(parse.decode(b'{"payload": ' + text + b', "name": "x"}', Item).payload) == text


def test_each_opaque_field_gets_its_own_text_back_in_whatever_order_they_came():
    items = b", ".join(
        b'{"payload": %s, "name": "n", "note": %s}' % (one, other) for one, other in zip(LONE, LONE[::-1], strict=True)
    )
    found = parse.decode(b'{"items": [' + items + b"]}", Items).items
    assert [bytes(item.payload) for item in found] == LONE
    assert [bytes(item.note) for item in found] == LONE[::-1]


def test_an_escaped_backslash_is_no_surrogate():
    text = rb'{"a": "\\ud83d", "b": "\ud83d"}'
    assert bytes(parse.decode(b'{"payload": ' + text + b"}", Item).payload) == text


@pytest.mark.parametrize("text", LONE[:3])
def test_a_control_field_with_one_is_refused(text):
    with pytest.raises(InvalidField) as refused:
        parse.decode(b'{"name": ' + text + b', "payload": "\\ud83d"}', Item)
    assert refused.value.details["field"] == "name"
