"""What an event may change of its channel's documents: one document a `one` key, documents by id under a `many` key."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec
from django.conf import settings

from core import parse
from core.errors import InvalidField, TooLarge

Form = Literal["one", "many"]
MAX_DOC_ID = 200


@dataclass(frozen=True)
class Change:
    key: str
    doc_id: str
    """Empty under a `one` key."""
    body: str | None
    """The JSON text as sent; None removes the document."""


def changes(forms: Mapping[str, Form], given: Mapping[str, msgspec.Raw], field: str) -> list[Change]:
    """Raises InvalidField for a key that the kind does not have, TooLarge."""
    found: list[Change] = []
    for key, raw in given.items():
        at = f"{field}.{key}"
        if key not in forms:
            known = ", ".join(sorted(forms)) or "none"
            raise InvalidField(
                f"Channels of this kind have no such document; there are: {known}.", field=parse.printable(at)
            )
        found += [_change(key, "", raw, at)] if forms[key] == "one" else _by_id(key, raw, at)
    return found


def _by_id(key: str, raw: msgspec.Raw, at: str) -> list[Change]:
    try:
        documents = parse.decode(bytes(raw), dict[str, msgspec.Raw])  # type: ignore[type-var]
    except InvalidField as error:
        inside = error.details.get("field")
        raise InvalidField(error.message, field=f"{at}.{inside}" if inside else at) from None
    for doc_id in documents:
        if not 1 <= len(doc_id) <= MAX_DOC_ID:
            raise InvalidField(f"An id has 1 to {MAX_DOC_ID} characters.", field=at, min=1, max=MAX_DOC_ID)
    return [_change(key, doc_id, document, f"{at}.{doc_id}") for doc_id, document in documents.items()]


def _change(key: str, doc_id: str, raw: msgspec.Raw, at: str) -> Change:
    text, most = bytes(raw).strip(), settings.TOWPATH["MAX_EVENT_BYTES"]
    if len(text) > most:
        raise TooLarge(f"A document has at most {most} bytes.", field=parse.printable(at), max=most)
    return Change(key, doc_id, None if text == b"null" else text.decode())
