"""Texts that people and failing programs write down, `reason` and `error`: kept whatever is in them, never refused for
length.

In a body struct such a field is of type `notes.Note`, since U+0000 is an error in all other fields.
"""

import json

import msgspec

from core.errors import InvalidField

MAX_NOTE = 2_000

Note = msgspec.Raw | msgspec.UnsetType


def note(written: Note, field: str) -> str | None:
    """The text as it is stored; None for null and for nothing. Raises InvalidField for what is no text."""
    if isinstance(written, msgspec.UnsetType):
        return None
    text = json.loads(bytes(written))
    if text is None:
        return None
    if not isinstance(text, str) or (not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)):
        raise InvalidField("Must be a text without lone surrogates.", field=field)
    return storable(text)


def needed_note(written: Note, field: str) -> str:
    """The same where a text is needed: null and one of nothing but blanks are refused as well."""
    text = note(written, field)
    if text is None or not text.strip():
        raise InvalidField("Say why: a text that is not blank.", field=field)
    return text


def storable(text: str) -> str:
    """U+0000 becomes U+FFFD, and 2,000 characters are kept."""
    return text[:MAX_NOTE].replace("\x00", "\ufffd")
